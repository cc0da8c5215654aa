-- Raises the mark of a lease: one conditional write. It always writes the row, even with the same mark, because only an
-- acknowledged write of our own counts. It always answers with one row, which also says why nothing was written.
-- $1 namespace id, $2 worker, $3 owner, $4 term, $5 acknowledged mark, $6 wanted mark, $7 window (ticks)
WITH db AS MATERIALIZED (
    SELECT clock_timestamp() AS at, pgflurry.wal_timeline() AS timeline, NOT pgflurry.is_original() AS copied
),
ns AS MATERIALIZED (
    SELECT n.id,
           -- a copy (restored, cloned, made from a template) has this lease in its rows, but did not grant it
           n.id = $1::uuid AND n.home IS NULL AND NOT db.copied AS matches,
           pgflurry.is_closed() AS closed,
           n.home,
           db.copied,
           db.timeline IS NOT NULL AND n.timeline IS DISTINCT FROM db.timeline AS moved,
           db.timeline,
           db.at,
           pgflurry.ticks(db.at)           AS now,
           pgflurry.ticks_of(n.quarantine) AS quarantine,
           pgflurry.ticks_of(n.quarantine) - pgflurry.ticks_of(n.skew) AS grace,
           -- A server that has started since the last renewal may be back as it was, after another one was the primary,
           -- with a lower mark in its row. That one granted nothing before it had waited: for the quarantine after its
           -- promotion, or for less if it only started, without a new timeline. Settling is the shorter of the two.
           CASE WHEN n.born = pg_postmaster_start_time() OR n.restart_quarantine = '0' THEN NULL
                ELSE pg_postmaster_start_time() END AS started,
           least(pgflurry.ticks_of(n.quarantine),
                 coalesce(pgflurry.ticks_of(n.restart_quarantine),
                          pgflurry.ticks_of(n.max_window) + 2 * pgflurry.ticks_of(n.skew))) AS settling,
           least($7::bigint, pgflurry.ticks_of(n.max_window)) + pgflurry.ticks_of(n.skew) AS reach,
           1::bigint << n.timestamp_bits   AS end_of_time
    FROM pgflurry.namespace n CROSS JOIN db
),
-- A holder that survives a failover closes the gate before the next process acquires, so the quarantine ends sooner. It
-- does not wait for the row's lock: the session that holds it is closing the gate, too.
gate AS MATERIALIZED (
    SELECT n.only_row FROM pgflurry.namespace n CROSS JOIN ns WHERE ns.matches AND ns.moved
    FOR UPDATE OF n SKIP LOCKED
),
closed AS (
    UPDATE pgflurry.namespace n
    SET timeline = ns.timeline,
        acquire_after = greatest(n.acquire_after, ns.now + ns.quarantine)
    FROM ns CROSS JOIN gate
    WHERE n.only_row = gate.only_row AND n.timeline IS DISTINCT FROM ns.timeline
),
-- The row may prove that acknowledged writes are gone, whatever the timeline says: its term is below ours, or our term
-- has another owner, or its mark is below what was acknowledged. Others may have held any worker in the history that is
-- gone, and any database may have joined.
forgot AS MATERIALIZED (
    SELECT w.worker
    FROM pgflurry.worker w CROSS JOIN ns
    WHERE ns.matches AND w.worker = $2::integer
      AND (w.term < $4::bigint OR w.term = $4::bigint AND w.owner <> $3::uuid OR w.reserved_until < $5::bigint)
),
witnessed AS (
    UPDATE pgflurry.namespace n
    SET acquire_after = greatest(n.acquire_after, ns.now + ns.quarantine), joins_complete_on = NULL
    FROM ns CROSS JOIN forgot
    WHERE n.id = ns.id AND NOT ns.moved
),
renewed AS (
    UPDATE pgflurry.leasable_worker w
    -- The limit is the database's clock plus the window and the skew. If the mark is already beyond that (the
    -- database's clock was set back), the mark rises no faster than that clock. So it never runs away.
    SET reserved_until = greatest(w.reserved_until, least($6::bigint, ns.end_of_time,
            greatest(ns.now + ns.reach,
                     w.reserved_until + greatest(0, ns.now - coalesce(pgflurry.ticks(w.renewed_at), ns.now))))),
        renewed_at = ns.at
    FROM ns
    WHERE ns.matches AND NOT ns.closed
      AND w.worker = $2::integer
      AND w.owner = $3::uuid AND w.term = $4::bigint
      AND w.released_at IS NULL AND w.retired_at IS NULL
      AND w.reserved_until >= $5::bigint
      -- Once others may take the row, it can no longer be renewed, only acquired again. A failover may have forgotten
      -- that another process got it meanwhile; but that process had to wait for the quarantine first. It may have
      -- waited by the old server's clock, which may have been ahead of this one by the skew.
      AND w.reserved_until + ns.grace > ns.now
      AND (w.renewed_at < ns.started AND pgflurry.ticks(w.renewed_at) + ns.settling <= ns.now) IS NOT TRUE
    RETURNING w.reserved_until
)
SELECT ns.id AS namespace,
       ns.home, ns.copied,
       renewed.reserved_until,
       (extract(epoch FROM clock_timestamp() - n.epoch) * 1000000)::bigint AS database_micros,
       -- the row as it was before, to say why it is lost
       w.reserved_until AS mark,
       (w.owner = $3::uuid AND w.term = $4::bigint) IS NOT TRUE AS taken,
       w.node,
       w.retired_at IS NOT NULL AS retired,
       w.reserved_until + ns.grace <= ns.now
           OR (w.renewed_at < ns.started AND pgflurry.ticks(w.renewed_at) + ns.settling <= ns.now) IS TRUE AS expired,
       ns.closed, pgflurry.place() AS place, EXISTS (SELECT FROM forgot) AS forgot
FROM ns
JOIN pgflurry.namespace n ON n.id = ns.id
LEFT JOIN pgflurry.worker w ON w.worker = $2::integer
LEFT JOIN renewed ON true;
