-- Takes a worker out of use for good. Its mark stays. It always answers with one row, which also says why nothing was
-- done. The next renewal of a holder changes no row. So the holder takes another worker, at the latest when its grant
-- ends.
-- $1 worker, $2 even if it is held
WITH ns AS MATERIALIZED (
    SELECT n.id, pgflurry.ticks(clock_timestamp()) AS now, (extract(epoch FROM n.unit) * 1000000)::bigint AS unit_micros
    FROM pgflurry.namespace n
),
retired AS (
    UPDATE pgflurry.worker w
    SET retired_at = clock_timestamp()
    FROM ns
    WHERE w.worker = $1::integer AND w.kind = 'proxy' AND w.retired_at IS NULL
      AND ($2::boolean OR w.term = 0 OR w.released_at IS NOT NULL OR w.renewed_at IS NULL OR w.reserved_until <= ns.now)
    RETURNING w.worker
)
SELECT retired.worker IS NOT NULL AS done,
       w.kind, w.retired_at IS NOT NULL AS was_retired, w.node, w.address,
       -- whether a process holds it, or did until now; a reseed leaves no renewed_at
       w.term > 0 AND w.released_at IS NULL AND w.renewed_at IS NOT NULL AND w.reserved_until > ns.now AS held,
       greatest(0, w.reserved_until - ns.now) * ns.unit_micros AS left_micros,
       (SELECT min(m.worker) FROM pgflurry.worker m) AS lowest,
       (SELECT max(m.worker) FROM pgflurry.worker m) AS highest
FROM ns
LEFT JOIN pgflurry.worker w ON w.worker = $1::integer
LEFT JOIN retired ON true;
