-- The rights of a role that does not own the schema: to keep leases, reserve blocks of segments, show the workers, log
-- clients of the ID database in, and mend sequences after a failover. No other rights.

CREATE OR REPLACE PROCEDURE pgflurry.grant_lease(role name)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $fn$
DECLARE
    statement text;
BEGIN
    FOREACH statement IN ARRAY ARRAY[
        'GRANT USAGE ON SCHEMA pgflurry TO %I',
        'GRANT SELECT ON pgflurry.namespace, pgflurry.worker, pgflurry.segment, pgflurry.migration, '
            'pgflurry.worker_history, pgflurry.client, pgflurry.client_secret TO %I',
        'GRANT UPDATE (timeline, acquire_after, joins_complete_on) ON pgflurry.namespace TO %I',
        'GRANT UPDATE (owner, term, reserved_until, released_at, node, address, version, acquired_at, renewed_at) '
            'ON pgflurry.worker TO %I',
        'GRANT UPDATE (max_id, update_time) ON pgflurry.segment TO %I',
        'GRANT EXECUTE ON FUNCTION pgflurry.mend_sequences() TO %I']
    LOOP
        EXECUTE format(statement, role);
    END LOOP;
END $fn$;
COMMENT ON PROCEDURE pgflurry.grant_lease(name) IS
'Grants a role what "pgflurry serve" needs in this database, and no more: '
'to keep leases, to reserve blocks of segments, to show who holds and held which worker, '
'to recreate sequences that a failover left unreadable, '
'and to log clients of the ID database in, for which it reads their secret verifiers. '
'May be run again at any time.';
