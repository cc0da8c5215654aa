-- Runs in the home: a database has left its worker behind. It is free again when every tick that its function may have used has
-- passed, and nobody who read the old text draws any more. $1 worker, $2 claim, $3 mark of the function
UPDATE pgflurry.worker AS w
SET reserved_until = greatest(w.reserved_until, $3::bigint, pgflurry.ticks(clock_timestamp() + n.quarantine)), released_at = clock_timestamp()
FROM pgflurry.namespace AS n
WHERE w.worker = $1 AND w.kind = 'database' AND w.owner = $2::uuid
