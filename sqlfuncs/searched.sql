-- Where PostgreSQL may look for a call that names no schema. A proxy answers such a call only if it cannot mean another
-- function.

CREATE OR REPLACE FUNCTION pgflurry.is_searched(schema oid) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $fn$
    -- PostgreSQL never looks for functions in temporary schemas
    SELECT NOT starts_with(n.nspname, 'pg_temp_') AND NOT starts_with(n.nspname, 'pg_toast_temp_') AND (
        -- A role that may use a schema may put it into its search_path at any time. Superusers may use every schema, so
        -- for them a schema counts only if somebody has put it there.
        has_schema_privilege('public', n.oid, 'USAGE')
        OR EXISTS (SELECT FROM pg_roles AS r
                WHERE r.rolcanlogin AND NOT r.rolsuper AND has_schema_privilege(r.oid, n.oid, 'USAGE')
                  AND has_database_privilege(r.oid, current_database(), 'CONNECT'))
        OR EXISTS (SELECT FROM pg_roles AS r WHERE r.rolcanlogin AND r.rolname = n.nspname)  -- "$user"
        OR EXISTS (SELECT FROM pg_db_role_setting AS s, unnest(s.setconfig) AS c (setting)
                   WHERE s.setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
                     AND starts_with(c.setting, 'search_path=') AND strpos(c.setting, n.nspname) > 0)
        OR EXISTS (SELECT FROM pg_settings AS s WHERE s.name = 'search_path' AND strpos(s.reset_val, n.nspname) > 0))
    FROM pg_namespace AS n WHERE n.oid = schema
$fn$;
COMMENT ON FUNCTION pgflurry.is_searched(oid) IS
'Whether PostgreSQL could look for a name without a schema in this one, in some session to this database: '
'a role that may log in and is no superuser may use it, or it stands in a search_path that is set for a role, '
'the database or the server. Never for temporary schemas. NULL for an oid that is no schema.';
