-- Runs in the home: a database has left its worker behind, for good.
-- It is retired rather than given out again,
-- because a standby or an old backup of that database may come back and draw with it.
-- $1 worker, $2 claim, $3 mark of the function
UPDATE pgflurry.worker AS w
SET reserved_until = greatest(w.reserved_until, $3::bigint),
    released_at = clock_timestamp(), retired_at = clock_timestamp()
WHERE w.worker = $1 AND w.kind = 'database' AND w.owner = $2::uuid
