-- Runs in the home: gives a database its worker again that a failover or an old backup of the home has forgotten. Tells whose
-- the worker is now; no row: the home has no such worker.
-- $1 worker, $2 name of the database, $3 address, $4 version
WITH again AS (
    UPDATE pgflurry.worker
    SET owner = gen_random_uuid(), term = term + 1, node = $2, address = $3, version = $4, acquired_at = clock_timestamp()
    WHERE worker = $1 AND kind = 'database' AND term = 0
    RETURNING worker, node
)
SELECT coalesce(again.node, w.node, '') FROM pgflurry.worker AS w LEFT JOIN again ON again.worker = w.worker
WHERE w.worker = $1 AND w.kind = 'database'
