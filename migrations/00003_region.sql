-- Regions: databases of one ID space that never talk. Each is a home of its own, with the workers of one datacenter
-- number. pgflurry.worker of a region has the rows of those workers and no others, so whatever leases a worker there
-- leases one of the region.

-- A dump holds the table for as long as it takes, and renewals would wait behind this.
SET LOCAL lock_timeout = '2s';

ALTER TABLE pgflurry.namespace
    ADD COLUMN region smallint
        CONSTRAINT namespace_region_is_a_datacenter CHECK (region IS NULL
            OR datacenter_bits > 0 AND region BETWEEN 0 AND (1 << datacenter_bits) - 1),
    DROP CONSTRAINT namespace_database_workers_leave_room,
    ADD CONSTRAINT namespace_database_workers_leave_room CHECK (database_workers
        BETWEEN 1 AND (1 << (CASE WHEN region IS NULL THEN datacenter_bits ELSE 0 END + worker_bits)) - 1),
    DROP CONSTRAINT namespace_function_worker_is_a_database_worker,
    ADD CONSTRAINT namespace_function_worker_is_a_database_worker CHECK (
        function_worker - (coalesce(region, 0)::integer << worker_bits) BETWEEN 0 AND database_workers - 1);

COMMENT ON COLUMN pgflurry.namespace.region IS
'The datacenter number whose workers this database, and those that join it, have for themselves; '
'NULL: the ID space has no regions, and its one home has all workers. '
'Databases of other regions are not known here: no two may have one number.';
COMMENT ON COLUMN pgflurry.namespace.database_workers IS
'The first so many workers, of the region or of all, are for database functions, '
'one for each database of the namespace; the others are for proxies.';
COMMENT ON COLUMN pgflurry.namespace.home IS
'Where the worker rows of this namespace, or of its region, are, for messages only; NULL: in this database. '
'Elsewhere means: no worker is granted from here.';
COMMENT ON TABLE pgflurry.worker IS
'One row for each number that datacenter and worker bits can hold, in a region for each of its own: '
'who may issue IDs with it, and up to which tick IDs with it may exist. '
'Rows are updated only: never deleted, their marks never lowered.';

-- pgflurry.create_namespace() has one parameter more from now on; with both there, a call would fit either.
DROP PROCEDURE IF EXISTS pgflurry.create_namespace(uuid, integer, integer, integer, integer, timestamptz, interval,
    integer, integer, text, uuid, boolean);

-- As before, and the region cannot change either.
CREATE OR REPLACE FUNCTION pgflurry.guard_namespace() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $fn$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        -- the row of another region, which a subscription brings along, is none of this one's business
        IF NEW.region IS DISTINCT FROM OLD.region AND current_setting('session_replication_role') = 'replica' THEN
            RETURN NULL;
        END IF;
        IF (NEW.epoch, NEW.unit, NEW.timestamp_bits, NEW.datacenter_bits, NEW.worker_bits, NEW.sequence_bits,
            NEW.region, NEW.database_workers, NEW.disposable)
           IS DISTINCT FROM
           (OLD.epoch, OLD.unit, OLD.timestamp_bits, OLD.datacenter_bits, OLD.worker_bits, OLD.sequence_bits,
            OLD.region, OLD.database_workers, OLD.disposable)
           OR NEW.acquire_after < OLD.acquire_after THEN
            RAISE EXCEPTION 'the layout of a namespace cannot change, nor its region, nor whether it is disposable, '
                'nor can acquire_after be lowered'
                USING ERRCODE = 'restrict_violation',
                      HINT = 'Identifiers of the present layout may exist. '
                          'Another layout needs another namespace, that is another database.';
        END IF;
        -- what a subscription brings along is true of another database
        IF current_setting('session_replication_role') = 'replica' THEN
            RETURN NULL;
        END IF;
        IF to_jsonb(NEW) - '{timeline,acquire_after}'::text[] <> to_jsonb(OLD) - '{timeline,acquire_after}'::text[]
           AND NOT pg_has_role((SELECT relowner FROM pg_class WHERE oid = TG_RELID), 'USAGE') THEN
            RAISE EXCEPTION 'role % may change timeline and acquire_after of pgflurry.namespace, and nothing else',
                current_user
                USING ERRCODE = 'insufficient_privilege',
                      HINT = 'The rest says which database this is. '
                          'Run "pgflurry migrate up" as the owner of the schema.';
        END IF;
        RETURN NEW;
    END IF;
    RAISE EXCEPTION '% on pgflurry.namespace is refused: generators check themselves against it', TG_OP
        USING ERRCODE = 'restrict_violation',
              HINT = 'To remove everything run "pgflurry migrate down".';
END $fn$;
COMMENT ON FUNCTION pgflurry.guard_namespace() IS
'Refuses, with SQLSTATE 23001, to change the layout or the region, to lower acquire_after, to delete or to truncate '
'the namespace; with 42501 to change more than a lease needs, but for the owner.';


-- Down

-- The constraints that know the column go with it. The table itself goes with the first migration.
ALTER TABLE pgflurry.namespace DROP COLUMN region;
