-- The rights of a role that does not own the schema: to keep leases, reserve blocks of segments, show the workers, log
-- clients of the ID database in, and mend sequences after a failover. No other rights.

-- With the owner's rights, because a role that leases needs none on the table.
CREATE OR REPLACE FUNCTION pgflurry.leasable(role name) RETURNS int4multirange
LANGUAGE sql STABLE SECURITY DEFINER PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $fn$
    SELECT CASE
        WHEN pg_has_role($1, (SELECT relowner FROM pg_class WHERE oid = 'pgflurry.worker'::regclass), 'USAGE')
        THEN '{(,)}'
        ELSE (SELECT coalesce(range_agg(r.workers), '{}') FROM pgflurry.lease_range AS r
              WHERE pg_has_role($1, r.role, 'MEMBER'))
    END
$fn$;
COMMENT ON FUNCTION pgflurry.leasable(name) IS
'The workers that a role may lease: those that pgflurry.grant_lease() gave to it and to the roles it is a member of. '
'The owner of the schema may lease all.';

-- A right to change rows is a right to lock them. So a role that leases has none on the table: it could hold the row of
-- a worker that is not its own, and every process would wait.
CREATE OR REPLACE VIEW pgflurry.leasable_worker AS
    SELECT * FROM pgflurry.worker AS w
    WHERE w.kind = 'proxy' AND w.worker <@ (SELECT pgflurry.leasable(current_user));
COMMENT ON VIEW pgflurry.leasable_worker IS
'The rows of pgflurry.worker that the current role may lease. Leases are written here.';

CREATE OR REPLACE PROCEDURE pgflurry.grant_lease(role name, workers int4range DEFAULT NULL)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $fn$
DECLARE
    holder constant regrole := (SELECT r.oid FROM pg_roles AS r WHERE r.rolname = grant_lease.role);
    statement text;
    proxies constant text[] := ARRAY[
        'SELECT ON pgflurry.segment, pgflurry.worker_history, pgflurry.client, pgflurry.client_secret',
        'UPDATE (max_id, update_time) ON pgflurry.segment',
        'EXECUTE ON FUNCTION pgflurry.mend_sequences()'];
BEGIN
    IF holder IS NULL THEN
        RAISE EXCEPTION 'role % does not exist', coalesce(quote_ident(role), 'NULL') USING ERRCODE = 'undefined_object',
            HINT = 'Make it first, by CREATE ROLE.';
    END IF;
    IF workers IS NOT NULL
       AND pg_has_role(role, (SELECT relowner FROM pg_class WHERE oid = 'pgflurry.worker'::regclass), 'USAGE') THEN
        RAISE EXCEPTION 'role % may lease all workers: it is a superuser, or has the rights of the owner of the schema',
            quote_ident(role)
            USING ERRCODE = 'invalid_grant_operation', HINT = 'Give a range to a role that only leases.';
    END IF;
    IF workers IS NOT NULL AND NOT EXISTS (
        SELECT FROM pgflurry.worker AS w WHERE w.kind = 'proxy' AND w.worker <@ grant_lease.workers)
    THEN
        RAISE EXCEPTION 'no worker in % can be leased here', workers
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = (SELECT format('Workers %s to %s can.', min(w.worker), max(w.worker))
                          FROM pgflurry.worker AS w WHERE w.kind = 'proxy');
    END IF;
    EXECUTE format('REVOKE UPDATE ON pgflurry.worker FROM %I', role);  -- earlier versions gave it
    FOREACH statement IN ARRAY ARRAY[
        'USAGE ON SCHEMA pgflurry',
        'SELECT ON pgflurry.namespace, pgflurry.worker, pgflurry.leasable_worker, pgflurry.migration',
        'UPDATE (timeline, acquire_after, joins_complete_on, server) ON pgflurry.namespace',
        'UPDATE (owner, term, reserved_until, released_at, node, address, version, acquired_at, renewed_at) '
            'ON pgflurry.leasable_worker']
    LOOP
        EXECUTE format('GRANT %s TO %I', statement, role);
    END LOOP;
    FOREACH statement IN ARRAY proxies LOOP
        IF workers IS NULL THEN
            EXECUTE format('GRANT %s TO %I', statement, role);
        ELSE
            EXECUTE format('REVOKE %s FROM %I', statement, role);
        END IF;
    END LOOP;
    DELETE FROM pgflurry.lease_range AS r
    WHERE r.role = holder OR NOT EXISTS (SELECT FROM pg_roles AS p WHERE p.oid = r.role);
    INSERT INTO pgflurry.lease_range VALUES (holder, coalesce(grant_lease.workers, '(,)'));
END $fn$;
COMMENT ON PROCEDURE pgflurry.grant_lease(name, int4range) IS
'Grants a role what "pgflurry serve" needs in this database, and no more: '
'to keep leases, to reserve blocks of segments, to show who holds and held which worker, '
'to recreate sequences that a failover left unreadable, '
'and to log clients of the ID database in, for which it reads their secret verifiers. '
'With workers, as in workers => ''[100,200)'', it may keep leases of these and nothing else: '
'that is for a program that leases in process. The last call for a role holds. May be run again at any time.';
