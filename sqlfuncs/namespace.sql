-- The namespace row and its workers: made once, and only checked after that.

CREATE OR REPLACE FUNCTION pgflurry.worker_kind(
    worker integer, function_workers int4multirange, foreign_workers int4multirange) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
    'SELECT CASE WHEN $1 <@ $3 THEN ''foreign'' WHEN $1 <@ $2 THEN ''database'' ELSE ''proxy'' END';
COMMENT ON FUNCTION pgflurry.worker_kind(integer, int4multirange, int4multirange) IS
'The kind that the row of a worker has, by two columns of the namespace row.';

CREATE OR REPLACE PROCEDURE pgflurry.create_namespace(
    new_id uuid,
    new_timestamp_bits integer, new_datacenter_bits integer, new_worker_bits integer, new_sequence_bits integer,
    new_epoch timestamptz, new_unit interval,
    new_database_workers integer, new_function_worker integer, new_home text,
    new_claim uuid DEFAULT gen_random_uuid(), new_disposable boolean DEFAULT false, new_region integer DEFAULT NULL,
    new_foreign_workers int4multirange DEFAULT NULL)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET datestyle = ISO, YMD AS $fn$
DECLARE
    n      pgflurry.namespace;
    known  text;
    shape  constant text := '%s/%s/%s/%s, epoch %s, unit %s ms';
    wanted text := format(shape, new_timestamp_bits, new_datacenter_bits, new_worker_bits,
        new_sequence_bits, new_epoch AT TIME ZONE 'UTC', trim_scale(extract(epoch FROM new_unit) * 1000));
    lowest constant integer := coalesce(new_region, 0) << new_worker_bits;
    workers constant integer :=
        1 << (CASE WHEN new_region IS NULL THEN new_datacenter_bits ELSE 0 END + new_worker_bits);
    functions int4multirange;
BEGIN
    SELECT * INTO n FROM pgflurry.namespace;
    IF FOUND THEN
        known := format(shape, n.timestamp_bits, n.datacenter_bits, n.worker_bits,
            n.sequence_bits, n.epoch AT TIME ZONE 'UTC', trim_scale(extract(epoch FROM n.unit) * 1000));
        IF known <> wanted THEN
            RAISE EXCEPTION 'the namespace of this database has layout %, not %', known, wanted
                USING ERRCODE = 'restrict_violation',
                      HINT = 'A layout cannot change: IDs of the present one may exist. '
                          'Leave the layout out, or use another database.';
        END IF;
        IF n.id <> new_id OR n.region IS DISTINCT FROM new_region THEN
            RAISE EXCEPTION 'this database belongs to namespace %, region %, not to namespace %, region %',
                n.id, coalesce(n.region::text, 'none'), coalesce(new_id, n.id), coalesce(new_region::text, 'none')
                USING ERRCODE = 'restrict_violation',
                      HINT = 'Neither can change: IDs may exist. Leave both out, or use another database.';
        END IF;
        IF n.foreign_workers <> new_foreign_workers THEN
            RAISE EXCEPTION 'the foreign workers of this ID space are %, not %', n.foreign_workers, new_foreign_workers
                USING ERRCODE = 'restrict_violation',
                      HINT = 'They were fixed when the ID space was made. Leave them out, or use another database.';
        END IF;
        RETURN;
    END IF;
    -- snowflake_time() takes numbers of the first day for old keys. A database that joins follows its home.
    IF new_home IS NULL AND new_epoch > clock_timestamp() - interval '24 hours' THEN
        RAISE EXCEPTION 'epoch % is less than a day ago: the server''s clock shows %',
            new_epoch AT TIME ZONE 'UTC', clock_timestamp() AT TIME ZONE 'UTC'
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'Take an earlier epoch. Numbers of its first day are left to the keys that tables had before.';
    END IF;
    SELECT range_agg(int4range(f.worker, f.worker + 1)) INTO functions
    FROM (SELECT w FROM generate_series(lowest, lowest + workers - 1) AS w
          WHERE (w <@ new_foreign_workers) IS NOT TRUE ORDER BY w LIMIT new_database_workers) AS f (worker);
    new_function_worker := coalesce(new_function_worker, lower(functions));
    INSERT INTO pgflurry.namespace (id, disposable,
            timestamp_bits, datacenter_bits, worker_bits, sequence_bits, epoch, unit, region,
            database_workers, function_worker, function_workers, foreign_workers, claim, home,
            joins_complete_on, born, restart_quarantine,
            timeline, acquire_after, system_identifier,
            database_oid, namespace_oid, worker_oid, database_name, server)
        SELECT coalesce(new_id, gen_random_uuid()), new_disposable,
            new_timestamp_bits, new_datacenter_bits, new_worker_bits, new_sequence_bits, new_epoch, new_unit,
            new_region, new_database_workers, new_function_worker, functions,
            coalesce(new_foreign_workers, '{}'), new_claim, new_home,
            CASE WHEN new_home IS NULL THEN pgflurry.server_life() END, pg_postmaster_start_time(),
            CASE WHEN new_disposable THEN interval '0' END,
            pgflurry.wal_timeline(), 0, pgflurry.system_identifier(),
            oid, 'pgflurry.namespace'::regclass, 'pgflurry.worker'::regclass, datname,
            pgflurry.this_server() || '{"reached": []}'
        FROM pg_database WHERE datname = current_database();
    -- Replication or a dump of the table may bring rows of another region's workers. They would be leased here too.
    ALTER TABLE pgflurry.worker DROP CONSTRAINT IF EXISTS worker_is_of_region;
    IF new_region IS NOT NULL THEN
        EXECUTE format('ALTER TABLE pgflurry.worker ADD CONSTRAINT worker_is_of_region '
            'CHECK (worker BETWEEN %s AND %s)', lowest, lowest + workers - 1);
    END IF;
    IF new_home IS NULL THEN
        INSERT INTO pgflurry.worker (worker, kind)
            SELECT w, pgflurry.worker_kind(w, functions, coalesce(new_foreign_workers, '{}'))
            FROM generate_series(lowest, lowest + workers - 1) AS w;
        UPDATE pgflurry.worker
            SET owner = new_claim, term = 1, node = current_database(), acquired_at = clock_timestamp()
            WHERE worker = new_function_worker;
    END IF;
    -- A function that exists before its namespace is left from an older one: from a DROP SCHEMA, or from a dump without
    -- data that was restored in place. The grants of that namespace end within a quarantine.
    IF to_regprocedure('public.next_snowflake()') IS NOT NULL THEN
        UPDATE pgflurry.namespace SET acquire_after = pgflurry.ticks(clock_timestamp() + quarantine);
    END IF;
    -- A dump without the rows may have brought lanes of another layout, which would be years ahead in this one.
    DROP SEQUENCE IF EXISTS pgflurry.lane, pgflurry.lane_stand_in;
    -- A new function has lost no mark yet, so its first ID need not keep the distance of a promotion.
    PERFORM setval(noted, ('x' || pgflurry.wal_timeline())::bit(32)::bigint)
        FROM unnest('{pgflurry.function_timeline,pgflurry.function_timeline_stand_in}'::regclass[]) AS noted;
END $fn$;

COMMENT ON PROCEDURE pgflurry.create_namespace(uuid, integer, integer, integer, integer, timestamptz, interval,
    integer, integer, text, uuid, boolean, integer, int4multirange) IS
'Writes the namespace row, with a random id if new_id is NULL; '
'with a NULL home also all worker rows, and claims function_worker for this database; '
'disposable: for tests, whose copies give the same IDs; with a region the rows of its workers alone. '
'The first new_database_workers that are not foreign are for functions, and the very first of them for this '
'database, if new_function_worker is NULL. '
'If the row exists: does nothing, or error 23001 if its layout, its id, its region or its foreign workers differ. '
'Error 22023 if the epoch is less than a day ago.';
