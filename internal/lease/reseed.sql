-- After a restore the rows may have forgotten acquisitions and renewals. No worker may begin before every grant that
-- they may have forgotten has ended. No lease in the rows may be renewed, because another process may have had its
-- worker since. A lease ended here does not count as released, so its worker keeps its quarantine. Otherwise a failover
-- that forgets the reseed could find the worker given to another process already.
WITH ns AS MATERIALIZED (
    SELECT n.id, pgflurry.ticks(clock_timestamp()) AS now, pgflurry.wal_timeline() AS timeline,
           least(1::bigint << n.timestamp_bits,
                 pgflurry.ticks(clock_timestamp()) + pgflurry.ticks_of(n.max_window)
                     + pgflurry.ticks_of(n.skew)) AS mark,
           pgflurry.ticks(clock_timestamp()) + pgflurry.ticks_of(n.quarantine) AS opens
    FROM pgflurry.namespace n
),
gate AS (
    UPDATE pgflurry.namespace n
    SET acquire_after = greatest(n.acquire_after, ns.opens),
        timeline = coalesce(ns.timeline, n.timeline),
        generation = pgflurry.next_generation(n.generation), -- no earlier history of the server had it
        joins_complete_on = NULL -- the rows may have forgotten a database that joined
    FROM ns
    WHERE n.id = ns.id
    RETURNING n.acquire_after
),
-- the rows before the change; locked, so that no renewal comes in between
before AS MATERIALIZED (
    SELECT w.worker, w.reserved_until < ns.mark AS raised,
           w.term > 0 AND w.released_at IS NULL AND w.retired_at IS NULL AND w.reserved_until > ns.now AS held
    FROM pgflurry.worker w CROSS JOIN ns
    WHERE w.kind = 'proxy'
    ORDER BY w.worker
    FOR UPDATE OF w
),
reseeded AS (
    UPDATE pgflurry.worker w
    SET reserved_until = greatest(w.reserved_until, ns.mark),
        owner = CASE WHEN w.term > 0 THEN gen_random_uuid() END,
        term = CASE WHEN w.term > 0 THEN w.term + 1 ELSE 0 END,
        renewed_at = NULL
    FROM before CROSS JOIN ns
    WHERE w.worker = before.worker
    RETURNING before.raised, before.held
)
SELECT count(*) = (SELECT count(*) FROM before) AND EXISTS (SELECT FROM gate) AS done,
       count(*) AS workers, count(*) FILTER (WHERE raised) AS raised, count(*) FILTER (WHERE held) AS held,
       (SELECT mark FROM ns) AS mark, (SELECT acquire_after FROM gate) AS opens
FROM reseeded;
