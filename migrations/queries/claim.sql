-- Gives a worker to the function of a database that joins, for good. Runs in the home, the database with the worker
-- rows. The worker was never used, or was given back, and its mark has passed.
-- The mark goes to the function, which begins after it: the joining database's server may have another clock.
-- Returns no row if no worker is free, if the home may have forgotten a claim (failover, restore, reseed), or if this
-- is not the original of namespace $4.
-- $1 name of the database, $2 address, $3 version, $4 namespace
UPDATE pgflurry.worker
SET owner = gen_random_uuid(), term = term + 1, node = $1, address = $2, version = $3,
    acquired_at = clock_timestamp(), released_at = NULL
WHERE worker = (SELECT worker FROM pgflurry.worker
                WHERE kind = 'database' AND retired_at IS NULL AND (term = 0 OR released_at IS NOT NULL)
                  AND reserved_until <= pgflurry.ticks(clock_timestamp())
                ORDER BY term > 0, worker LIMIT 1 FOR UPDATE SKIP LOCKED)
  AND (term = 0 OR released_at IS NOT NULL)
  AND (SELECT id FROM pgflurry.namespace) = $4::uuid AND pgflurry.is_original()
  AND pgflurry.joins_are_known() AND NOT pgflurry.is_closed()
RETURNING worker, reserved_until, owner::text
