-- A copy becomes an ID space of its own, with its own worker rows. Marks that were copied with the IDs stay. Where the home was
-- elsewhere the marks here are missing or old: IDs in this database may go as far as a renewal there could reach by now.
WITH before AS (
    SELECT n.*, pgflurry.ticks(clock_timestamp() + n.max_window + n.skew) AS reach FROM pgflurry.namespace AS n
), filled AS (
    INSERT INTO pgflurry.worker (worker, kind, reserved_until)
    SELECT w, CASE WHEN w < database_workers THEN 'database' ELSE 'proxy' END, CASE WHEN w < database_workers THEN 0 ELSE reach END
    FROM before, generate_series(0, (1 << (datacenter_bits + worker_bits)) - 1) AS w
    WHERE home IS NOT NULL AND NOT EXISTS (SELECT FROM pgflurry.worker AS known WHERE known.worker = w)
), raised AS (
    UPDATE pgflurry.worker AS w
    SET reserved_until = CASE WHEN w.kind = 'proxy' THEN greatest(w.reserved_until, before.reach) ELSE w.reserved_until END,
        retired_at = NULL
    FROM before WHERE before.home IS NOT NULL
)
UPDATE pgflurry.namespace SET id = gen_random_uuid(), home = NULL;
-- the function keeps its worker, whose IDs its own mark covers
UPDATE pgflurry.worker AS w
SET owner = gen_random_uuid(), term = w.term + 1, node = current_database(), address = NULL, version = NULL, acquired_at = clock_timestamp()
FROM pgflurry.namespace AS n WHERE w.worker = n.function_worker;
