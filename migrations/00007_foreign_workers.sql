-- Foreign workers: numbers with which a living generator of another kind gives IDs. Their rows have a kind of their
-- own. So whatever leases or claims a worker leaves them out by what it asks for. The namespace row says which they
-- are, and which workers are for functions: these need no longer be the first ones.

-- A dump holds the tables for as long as it takes, and renewals would wait behind this.
SET LOCAL lock_timeout = '2s';

ALTER TABLE pgflurry.namespace
    ADD COLUMN function_workers int4multirange,
    ADD COLUMN foreign_workers  int4multirange NOT NULL DEFAULT '{}',
    DROP CONSTRAINT namespace_function_worker_is_a_database_worker;

DO $do$
BEGIN
    UPDATE pgflurry.namespace AS n
        SET function_workers = int4multirange(int4range(l.lowest, l.lowest + n.database_workers))
        FROM (SELECT coalesce(region, 0)::integer << worker_bits AS lowest FROM pgflurry.namespace) AS l;
END $do$;

-- The rows of a joined database's workers are elsewhere, and may have changed since it looked.
ALTER TABLE pgflurry.namespace
    ALTER COLUMN function_workers SET NOT NULL,
    ADD CONSTRAINT namespace_function_worker_is_a_database_worker
        CHECK (home IS NOT NULL OR function_worker <@ function_workers),
    ADD CONSTRAINT namespace_foreign_workers_are_no_functions CHECK (NOT foreign_workers && function_workers);

COMMENT ON COLUMN pgflurry.namespace.database_workers IS
'How many workers, of the region or of all, are for database functions, one for each database of the namespace.';
COMMENT ON COLUMN pgflurry.namespace.function_workers IS
'Which workers are for database functions. In a database that has joined: as its home said when it last looked.';
COMMENT ON COLUMN pgflurry.namespace.foreign_workers IS
'Workers with which a generator of another kind gives IDs: no proxy and no function gets one. '
'Set by "pgflurry migrate up --foreign-workers". In a database that has joined: as its home said when it last looked.';

ALTER TABLE pgflurry.worker
    DROP CONSTRAINT worker_kind_known,
    ADD CONSTRAINT worker_kind_known CHECK (kind IN ('proxy', 'database', 'foreign'));

COMMENT ON COLUMN pgflurry.worker.kind IS
'proxy: leased by proxies. database: written into the function of one database, for good. '
'foreign: a generator of another kind gives IDs with it. It follows from the namespace row.';


-- Down

-- The constraints that know the columns go with them. The tables go with the first migration.
ALTER TABLE pgflurry.namespace DROP COLUMN function_workers, DROP COLUMN foreign_workers;
