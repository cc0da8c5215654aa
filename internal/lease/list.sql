-- The workers: who holds which one until when.
-- $1: include the workers that were never used. Foreign ones always are.
WITH ns AS MATERIALIZED (
    SELECT n.epoch, n.unit, n.function_worker, n.home,
           pgflurry.ticks(clock_timestamp()) AS now,
           pgflurry.ticks_of(n.quarantine)   AS quarantine,
           (extract(epoch FROM n.unit) * 1000000)::bigint AS unit_micros
    FROM pgflurry.namespace n
),
w AS (
    SELECT r.worker, r.kind, r.term, r.address, r.version,
           -- this database may have been renamed since it wrote its row
           CASE WHEN r.worker = ns.function_worker AND ns.home IS NULL THEN current_database() ELSE r.node END AS node,
           r.acquired_at, r.renewed_at, r.released_at, r.retired_at,
           -- The mark of a function is in a sequence of its own database. Only this database's own can be read here.
           CASE WHEN r.kind <> 'database' OR r.term = 0 OR r.released_at IS NOT NULL THEN r.reserved_until
                WHEN r.worker = ns.function_worker AND ns.home IS NULL
                     AND has_sequence_privilege('pgflurry.mark', 'SELECT, USAGE')
                THEN greatest(pg_sequence_last_value('pgflurry.mark'),
                              pg_sequence_last_value('pgflurry.mark_stand_in'), 0)
           END AS reserved_until
    FROM pgflurry.worker r CROSS JOIN ns
)
SELECT w.worker, w.kind,
       CASE
           WHEN w.kind = 'foreign' THEN 'foreign'
           WHEN w.retired_at IS NOT NULL THEN 'retired'
           WHEN w.term = 0 THEN 'never used'
           WHEN w.kind = 'database' AND w.released_at IS NULL THEN 'function'
           -- without renewed_at it was reseeded
           WHEN w.released_at IS NULL AND w.renewed_at IS NOT NULL AND w.reserved_until > ns.now THEN 'held'
           WHEN w.released_at IS NULL AND w.reserved_until + ns.quarantine > ns.now THEN 'quarantined'
           WHEN w.reserved_until > ns.now THEN 'released'
           ELSE 'free'
       END AS state,
       coalesce(w.node, '') AS node, coalesce(w.address, '') AS address, coalesce(w.version, '') AS version,
       w.term, w.reserved_until,
       (w.reserved_until - ns.now) * ns.unit_micros AS left_micros,
       -- when any process may take it; NULL for a retired or foreign worker, and for one that belongs to a function
       CASE WHEN w.kind = 'proxy' AND w.retired_at IS NULL THEN
           (w.reserved_until + CASE WHEN w.term = 0 OR w.released_at IS NOT NULL THEN 0 ELSE ns.quarantine END - ns.now)
               * ns.unit_micros
       END AS free_micros,
       w.acquired_at, w.renewed_at, w.released_at, w.retired_at
FROM w CROSS JOIN ns
WHERE $1::boolean OR w.term > 0 OR w.retired_at IS NOT NULL OR w.kind = 'foreign'
ORDER BY w.worker;
