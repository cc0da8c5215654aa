-- Runs in the home: takes a database worker that was never used, for good. A used one is not free again even if its
-- database is gone, because the mark of its function went with it.
-- $1 name of the database, $2 address, $3 version
UPDATE pgflurry.worker
SET owner = gen_random_uuid(), term = 1, node = $1, address = $2, version = $3, acquired_at = clock_timestamp()
WHERE worker = (SELECT worker FROM pgflurry.worker
                WHERE kind = 'database' AND term = 0 AND retired_at IS NULL
                ORDER BY worker LIMIT 1 FOR UPDATE SKIP LOCKED)
  AND kind = 'database' AND term = 0
RETURNING worker
