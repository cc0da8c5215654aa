-- Takes the past of a free worker: its ticks from the mark until now. Nobody has given an ID in them, because a holder
-- ends at the mark, and nobody will, because the next one begins there. It is an acquisition that is given back in the
-- same write. It always answers with one row, which also says why nothing was taken.
-- $1 namespace id, $2 owner, $3 what for, $4 address, $5 version, $6 tick at which the past must have begun, $7 whether
-- the operator vouches that the rows know all IDs from then on
WITH db AS MATERIALIZED (
    SELECT clock_timestamp() AS at, pgflurry.wal_timeline() AS timeline
),
ns AS MATERIALIZED (
    SELECT n.id, n.home, n.gate_by,
           n.id = $1::uuid AS matches,
           NOT pgflurry.is_original() AS copied,
           pgflurry.is_closed() AS closed,
           pgflurry.leasable(current_user) AS leasable,
           db.at,
           pgflurry.ticks(db.at) AS now,
           pgflurry.ticks_of(n.quarantine) AS quarantine,
           1::bigint << n.timestamp_bits AS end_of_time,
           -- as in acquire.sql; whoever leases next closes the gate for good
           CASE WHEN db.timeline IS NOT NULL AND n.timeline IS DISTINCT FROM db.timeline
                THEN greatest(n.acquire_after, pgflurry.ticks(db.at) + pgflurry.ticks_of(n.quarantine))
                ELSE n.acquire_after END AS gate,
           CASE WHEN n.born = pg_postmaster_start_time() OR n.restart_quarantine = '0' THEN 0
                ELSE pgflurry.ticks(pg_postmaster_start_time()) + 1
                     + coalesce(pgflurry.ticks_of(n.restart_quarantine),
                                pgflurry.ticks_of(n.max_window) + 2 * pgflurry.ticks_of(n.skew))
           END AS settled,
           pgflurry.ticks(n.created_at) + 1 AS made
    FROM pgflurry.namespace n CROSS JOIN db
),
-- The rows may have forgotten grants that a failover, a restore or a restart has lost. All of these end before the gate
-- opens. Somebody may have opened the gate by hand: then nothing says when the last of them ended. And the rows know
-- nothing of an ID space that was removed before this one was made.
memory AS MATERIALIZED (
    SELECT greatest(ns.made, ns.settled,
                    CASE WHEN ns.gate = 0 AND ns.gate_by IS NOT NULL THEN ns.now ELSE ns.gate END) AS begins
    FROM ns
),
free AS (
    SELECT w.worker, w.reserved_until, w.term
    FROM pgflurry.worker w CROSS JOIN ns
    WHERE w.kind = 'proxy' AND w.retired_at IS NULL AND w.worker <@ ns.leasable
      AND w.reserved_until + CASE WHEN w.term = 0 OR w.released_at IS NOT NULL THEN 0 ELSE ns.quarantine END <= ns.now
),
-- A worker that was never used comes first. Among these the choice is random, so that a server which has forgotten one
-- hardly gives the same again.
candidate AS MATERIALIZED (
    SELECT w.worker, w.reserved_until
    FROM pgflurry.worker w JOIN free USING (worker) CROSS JOIN ns CROSS JOIN memory
    WHERE ns.matches AND ns.home IS NULL AND NOT ns.copied AND NOT ns.closed
      AND greatest(ns.gate, ns.settled) <= ns.now AND ns.now < ns.end_of_time
      AND ($7::boolean OR memory.begins <= $6::bigint)
      AND free.reserved_until <= $6::bigint
    ORDER BY free.term > 0, random()
    LIMIT 1
    FOR UPDATE OF w SKIP LOCKED
),
-- The tick that has begun is part of it. So the mark is one above.
taken AS (
    UPDATE pgflurry.worker w
    SET owner = $2::uuid,
        term = w.term + 1,
        reserved_until = ns.now + 1,
        node = $3::text, address = $4::text, version = $5::text,
        acquired_at = ns.at, renewed_at = ns.at, released_at = ns.at
    FROM candidate CROSS JOIN ns
    WHERE w.worker = candidate.worker
      AND w.kind = 'proxy' AND w.retired_at IS NULL AND w.reserved_until = candidate.reserved_until
      AND w.reserved_until + CASE WHEN w.term = 0 OR w.released_at IS NOT NULL THEN 0 ELSE ns.quarantine END <= ns.now
    RETURNING w.worker, candidate.reserved_until AS granted_from, w.reserved_until
)
SELECT ns.id AS namespace, ns.home, ns.copied, ns.closed,
       taken.worker, taken.granted_from, taken.reserved_until,
       greatest(ns.gate, ns.settled) AS opens,
       (greatest(ns.gate, ns.settled) - ns.now) * unit.micros AS gate_micros,
       ns.settled > ns.gate AS started, coalesce(ns.gate_by, '') AS gate_by,
       memory.begins,
       -- where the longest past of a free worker begins, if any is free
       (SELECT min(free.reserved_until) FROM free) AS longest
FROM ns CROSS JOIN memory
JOIN pgflurry.namespace n ON n.id = ns.id
CROSS JOIN LATERAL (SELECT (extract(epoch FROM n.unit) * 1000000)::bigint AS micros) unit
LEFT JOIN taken ON true;
