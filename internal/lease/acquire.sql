-- Takes any free worker: one conditional write. It always answers with one row, which also says why nothing was taken.
-- $1 namespace id, $2 owner, $3 node, $4 address, $5 version, $6 window (ticks), $7 lowest and $8 highest worker to
-- take, $9 the longest window that this process will renew with (ticks)
WITH db AS MATERIALIZED (
    SELECT clock_timestamp() AS at, pgflurry.wal_timeline() AS timeline
),
ns AS MATERIALIZED (
    SELECT n.id,
           n.id = $1::uuid AS matches,
           -- restored, cloned or made from a template: the original may be granting the same workers. Restored in
           -- place: this database has granted them and forgotten it (its tables are new ones).
           NOT pgflurry.is_original() AS copied,
           -- A NULL in the row counts as another timeline: the old server did not show its timeline, so this is another
           -- server. If this server shows none, nothing can be compared.
           db.timeline IS NOT NULL AND n.timeline IS DISTINCT FROM db.timeline AS moved,
           n.home,
           known.lack,
           pgflurry.is_closed() AS closed,
           n.acquire_after + CASE WHEN n.acquire_after > 0 THEN known.lack ELSE 0 END AS acquire_after,
           n.gate_by,
           -- A server that has just started may have forgotten grants: it may be an old copy of its files, or an old
           -- primary that another one has replaced for a while. All that it can have forgotten is over by then. In the
           -- life of the server in which the row was written there is nothing to forget.
           CASE WHEN n.born = pg_postmaster_start_time() OR n.restart_quarantine = '0' THEN 0
                ELSE pgflurry.ticks(pg_postmaster_start_time()) + 1
                     + coalesce(pgflurry.ticks_of(n.restart_quarantine),
                                greatest(pgflurry.ticks_of(n.max_window), $9::bigint) + 2 * pgflurry.ticks_of(n.skew))
           END AS settled,
           db.timeline,
           db.at,
           pgflurry.ticks(db.at)           AS now,
           pgflurry.ticks_of(n.quarantine) AS quarantine,
           pgflurry.ticks_of(n.quarantine) + known.lack AS rest,
           least($6::bigint, pgflurry.ticks_of(n.max_window)) AS reserve,
           1::bigint << n.timestamp_bits   AS end_of_time
    FROM pgflurry.namespace n CROSS JOIN db
    -- A process starts only with a window of at most max_window. If the window of this one is longer, the row has
    -- forgotten a raise of max_window, or it was lowered since. Grants may then be longer than the row says, so this
    -- process waits longer by the difference.
    CROSS JOIN LATERAL (
        SELECT greatest(0, $9::bigint + 2 * pgflurry.ticks_of(n.skew) - pgflurry.ticks_of(n.quarantine)) AS lack
    ) known
),
-- The gate. ns still has the old timeline, so this very statement grants nothing. That holds even if it waited here for
-- another session that closed the gate first: then it changes no row.
closed AS (
    UPDATE pgflurry.namespace n
    SET timeline = ns.timeline,
        acquire_after = greatest(n.acquire_after, ns.now + ns.quarantine)
    FROM ns
    WHERE ns.matches AND ns.moved AND n.id = ns.id AND n.timeline IS DISTINCT FROM ns.timeline
    RETURNING n.acquire_after
),
-- SKIP LOCKED only avoids a wait. If two sessions choose the same row, the row lock and the repeated conditions let one
-- win.
candidate AS MATERIALIZED (
    SELECT w.worker
    FROM pgflurry.leasable_worker w CROSS JOIN ns
    WHERE ns.matches AND ns.home IS NULL AND NOT ns.copied AND NOT ns.moved AND ns.acquire_after <= ns.now
      AND NOT ns.closed AND ns.settled <= ns.now
      AND w.retired_at IS NULL AND w.worker BETWEEN $7::integer AND $8::integer
      AND w.reserved_until + CASE WHEN w.term = 0 OR w.released_at IS NOT NULL THEN 0 ELSE ns.rest END <= ns.now
      AND ns.now < ns.end_of_time
    -- first the worker that this node had last, then one that was never used, then the one that was used longest ago
    ORDER BY CASE WHEN w.node = $3::text THEN 0 WHEN w.term = 0 THEN 1 ELSE 2 END,
             CASE WHEN w.node = $3::text THEN -w.reserved_until WHEN w.term = 0 THEN 0 ELSE w.reserved_until END,
             random()
    LIMIT 1
    FOR UPDATE OF w SKIP LOCKED
),
taken AS (
    UPDATE pgflurry.leasable_worker w
    SET owner = $2::uuid,
        term = w.term + 1,
        reserved_until = least(greatest(w.reserved_until, ns.now) + ns.reserve, ns.end_of_time),
        released_at = NULL,
        node = $3::text, address = $4::text, version = $5::text,
        acquired_at = ns.at, renewed_at = ns.at
    FROM candidate CROSS JOIN ns
    WHERE w.worker = candidate.worker
      AND w.retired_at IS NULL
      AND w.reserved_until + CASE WHEN w.term = 0 OR w.released_at IS NOT NULL THEN 0 ELSE ns.rest END <= ns.now
    -- the candidate's mark was at most now, so greatest(old reserved_until, now) is now
    RETURNING w.worker, w.term, ns.now AS granted_from, w.reserved_until
)
SELECT ns.id AS namespace, ns.home, ns.copied, ns.timeline IS NULL AS ungated,
       taken.worker, taken.term, taken.granted_from, taken.reserved_until,
       (extract(epoch FROM clock_timestamp() - n.epoch) * 1000000)::bigint AS database_micros,
       gate.opens, (gate.opens - ns.now) * unit.micros                   AS gate_micros,
       free.workers, free.retired, free.next_at, (free.next_at - ns.now) * unit.micros AS next_micros,
       ns.closed, pgflurry.place() AS place,
       -- whether the start of the server is what keeps the gate closed, and else who closed it
       gate.opens = ns.settled AS started, coalesce(ns.gate_by, '') AS gate_by,
       ns.rest * unit.micros AS rest_micros,
       -- whose transactions hold rows of workers that are free
       (SELECT coalesce(string_agg(DISTINCT format('%s (process %s)', a.usename, a.pid), ', role '), '')
        FROM pg_locks AS l JOIN pg_stat_activity AS a USING (pid)
        WHERE taken.worker IS NULL AND free.next_at <= ns.now
          AND l.locktype = 'transactionid' AND l.granted AND l.pid <> pg_backend_pid()
          AND l.transactionid IN (SELECT w.xmax FROM pgflurry.worker AS w WHERE w.kind = 'proxy')) AS held_by
FROM ns
JOIN pgflurry.namespace n ON n.id = ns.id
CROSS JOIN LATERAL (SELECT (extract(epoch FROM n.unit) * 1000000)::bigint AS micros) unit
LEFT JOIN taken ON true
LEFT JOIN LATERAL (
    SELECT CASE WHEN ns.moved THEN greatest((SELECT acquire_after FROM closed) + ns.lack, ns.acquire_after,
                                            ns.settled, ns.now + ns.rest)
                WHEN greatest(ns.acquire_after, ns.settled) > ns.now
                THEN greatest(ns.acquire_after, ns.settled) END AS opens
) gate ON true
LEFT JOIN LATERAL (
    SELECT count(*) AS workers,
           count(w.retired_at) AS retired,
           min(w.reserved_until + CASE WHEN w.term = 0 OR w.released_at IS NOT NULL THEN 0 ELSE ns.rest END)
               FILTER (WHERE w.retired_at IS NULL) AS next_at
    FROM pgflurry.leasable_worker w
    WHERE w.worker BETWEEN $7::integer AND $8::integer
) free ON taken.worker IS NULL;
