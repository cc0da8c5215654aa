-- Raises the mark of a lease: one conditional write, and always a real one, because only a write of our own that was
-- acknowledged counts. Always answers with one row, which also says why nothing was written.
-- $1 namespace id, $2 worker, $3 owner, $4 term, $5 acknowledged mark, $6 wanted mark, $7 window (ticks)
WITH db AS MATERIALIZED (
    SELECT clock_timestamp() AS at, pgflurry.wal_timeline() AS timeline, NOT pgflurry.is_original() AS copied
),
ns AS MATERIALIZED (
    SELECT n.id,
           -- a copy (restored, cloned, made from a template) has this lease in its rows, but is not where it was given
           n.id = $1::uuid AND n.home IS NULL AND NOT db.copied AS matches,
           n.home,
           db.copied,
           db.timeline IS NOT NULL AND n.timeline IS DISTINCT FROM db.timeline AS moved,
           db.timeline,
           db.at,
           pgflurry.ticks(db.at)           AS now,
           pgflurry.ticks_of(n.quarantine) AS quarantine,
           pgflurry.ticks_of(n.quarantine) - pgflurry.ticks_of(n.skew) AS grace,
           least($7::bigint, pgflurry.ticks_of(n.max_window)) + pgflurry.ticks_of(n.skew) AS reach,
           1::bigint << n.timestamp_bits   AS end_of_time
    FROM pgflurry.namespace n CROSS JOIN db
),
-- A holder that outlives a failover closes the gate for the next acquirer, so that the quarantine is over sooner.
-- It never waits for it: whoever holds that row is doing the same.
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
renewed AS (
    UPDATE pgflurry.worker w
    -- The limit is the database's clock plus what may be reserved.
    -- Where the mark is already beyond that (the database's clock was set back),
    -- it moves on no faster than the database's clock does, so that it never runs away.
    SET reserved_until = greatest(w.reserved_until, least($6::bigint, ns.end_of_time,
            greatest(ns.now + ns.reach,
                     w.reserved_until + greatest(0, ns.now - coalesce(pgflurry.ticks(w.renewed_at), ns.now))))),
        renewed_at = ns.at
    FROM ns
    WHERE ns.matches
      AND w.worker = $2::integer AND w.kind = 'proxy'
      AND w.owner = $3::uuid AND w.term = $4::bigint
      AND w.released_at IS NULL AND w.retired_at IS NULL
      AND w.reserved_until >= $5::bigint
      -- Once others may take the row it can no longer be renewed, only acquired again:
      -- whoever was given it meanwhile may have been forgotten by a failover, but not so the time he had to wait.
      -- He may have waited by the old server's clock, which may have been ahead of this one by the skew.
      AND w.reserved_until + ns.grace > ns.now
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
       w.reserved_until + ns.grace <= ns.now AS expired
FROM ns
JOIN pgflurry.namespace n ON n.id = ns.id
LEFT JOIN pgflurry.worker w ON w.worker = $2::integer
LEFT JOIN renewed ON true;
