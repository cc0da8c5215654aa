-- Makes a copy of a migrated database an original of its own: what a migration takes from the place and by chance.
-- Nobody has drawn from the copied one. sqlfuncs/install.sql, which comes next, writes it into the functions.
SET search_path = pg_catalog, pg_temp;
SET client_min_messages = warning;
UPDATE pgflurry.namespace AS n
SET id = gen_random_uuid(), claim = gen_random_uuid(),
    database_oid = d.oid, database_name = d.datname, born = pg_postmaster_start_time(),
    joins_complete_on = pgflurry.server_life(), timeline = pgflurry.wal_timeline()
FROM pg_database AS d WHERE d.datname = current_database();
UPDATE pgflurry.client_secret
SET secret = sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()));
UPDATE pgflurry.worker AS w
SET owner = n.claim, node = current_database(), acquired_at = clock_timestamp()
FROM pgflurry.namespace AS n WHERE w.worker = n.function_worker;
