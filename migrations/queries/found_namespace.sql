-- A copy becomes an ID space of its own, with its own worker rows. Marks that were copied with the IDs stay. Where the home was
-- elsewhere the marks here are missing or old: IDs in this database may go as far as a renewal there could reach by now. So may
-- those of functions of the old space's other databases, whose marks are not here at all; ten seconds are more than a function
-- may be ahead of its clock.
-- Who held the workers, and which were retired, was true of the old space only: nobody holds them here. Their quarantine stays.
WITH before AS (
    SELECT n.*, pgflurry.ticks(clock_timestamp() + greatest(n.max_window, interval '10 s') + n.skew) AS reach FROM pgflurry.namespace AS n
), filled AS (
    INSERT INTO pgflurry.worker (worker, kind, reserved_until)
    SELECT w, CASE WHEN w < database_workers THEN 'database' ELSE 'proxy' END, CASE WHEN w = function_worker THEN 0 ELSE reach END
    FROM before, generate_series(0, (1 << (datacenter_bits + worker_bits)) - 1) AS w
    WHERE home IS NOT NULL AND NOT EXISTS (SELECT FROM pgflurry.worker AS known WHERE known.worker = w)
), freed AS (
    UPDATE pgflurry.worker AS w
    SET reserved_until = CASE WHEN before.home IS NOT NULL OR w.kind = 'database' AND w.term > 0
                              THEN greatest(w.reserved_until, before.reach) ELSE w.reserved_until END,
        owner = CASE WHEN w.term > 0 THEN gen_random_uuid() END,
        term = CASE WHEN w.term > 0 THEN w.term + 1 ELSE 0 END,
        released_at = CASE WHEN w.kind = 'database' AND w.term > 0 THEN clock_timestamp() ELSE w.released_at END,
        retired_at = NULL, node = NULL, address = NULL, version = NULL, acquired_at = NULL, renewed_at = NULL
    FROM before WHERE w.worker <> before.function_worker
)
UPDATE pgflurry.namespace SET id = gen_random_uuid(), home = NULL;
-- the function keeps its worker, whose IDs its own mark covers
UPDATE pgflurry.worker AS w
SET owner = gen_random_uuid(), term = w.term + 1, node = current_database(), address = NULL, version = NULL, acquired_at = clock_timestamp(),
    released_at = NULL, retired_at = NULL, renewed_at = NULL
FROM pgflurry.namespace AS n WHERE w.worker = n.function_worker;
DELETE FROM pgflurry.worker_history;
