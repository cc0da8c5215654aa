-- Records that a database no longer uses its worker. Runs in the home. The worker is retired, so no other database gets
-- it. A standby or an old backup of the former holder may return and draw with it.
-- $1 worker, $2 claim, $3 mark of the function
UPDATE pgflurry.worker AS w
SET reserved_until = greatest(w.reserved_until, $3::bigint),
    released_at = clock_timestamp(), retired_at = clock_timestamp()
WHERE w.worker = $1 AND w.kind = 'database' AND w.owner = $2::uuid
