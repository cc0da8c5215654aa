-- Runs in the home: takes a database worker, for good: one that was never used, or that another namespace's function left behind when
-- this one was founded in a copy. Once used it is not free again even if its database is gone, because the mark of its
-- function went with it. The mark of the row must have passed, and goes to the function, whose server may have another clock.
-- $1 name of the database, $2 address, $3 version
UPDATE pgflurry.worker
SET owner = gen_random_uuid(), term = term + 1, node = $1, address = $2, version = $3, acquired_at = clock_timestamp(), released_at = NULL
WHERE worker = (SELECT worker FROM pgflurry.worker
                WHERE kind = 'database' AND retired_at IS NULL AND (term = 0 OR released_at IS NOT NULL)
                  AND reserved_until <= pgflurry.ticks(clock_timestamp())
                ORDER BY term > 0, worker LIMIT 1 FOR UPDATE SKIP LOCKED)
  AND (term = 0 OR released_at IS NOT NULL)
RETURNING worker, reserved_until
