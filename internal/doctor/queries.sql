-- What "pgflurry doctor" asks. Each statement may be refused by itself.

-- name: server
-- Reads what every role may know.
SELECT current_setting('server_version_num')::integer, current_setting('server_version'), pg_is_in_recovery(),
       pg_postmaster_start_time(), clock_timestamp(), current_user::text, current_database()::text,
       coalesce(host(inet_server_addr()), ''), pg_backend_pid(),
       (SELECT rolsuper FROM pg_roles WHERE rolname = current_user),
       coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false);

-- name: settings
-- Reads settings that durability, failover and the sessions of pgflurry depend on.
SELECT name, setting FROM pg_settings
WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit', 'synchronous_standby_names', 'max_connections',
               'session_replication_role', 'default_transaction_read_only', 'statement_timeout', 'lock_timeout',
               'idle_in_transaction_session_timeout', 'transaction_timeout', 'jit')
ORDER BY name;

-- name: signs
-- Lists what shows whose server this is: prefixes of settings, names of roles, and a function.
SELECT DISTINCT split_part(name, '.', 1) || '.' FROM pg_settings WHERE name LIKE '%.%'
UNION ALL
SELECT rolname FROM pg_roles
WHERE rolname IN ('rdsadmin', 'cloudsqlsuperuser', 'alloydbsuperuser', 'azure_pg_admin', 'neon_superuser',
                  'supabase_admin', 'streaming_replica')
UNION ALL
SELECT 'aurora_version()' FROM pg_proc WHERE proname = 'aurora_version'
UNION ALL
SELECT 'cnpg' FROM pg_stat_activity WHERE application_name LIKE 'cnpg%'
ORDER BY 1;

-- name: timeline
-- Reads the WAL timeline that the server writes now.
SELECT substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8);

-- name: system_identifier
-- Reads the identity of the server cluster.
SELECT system_identifier::text FROM pg_control_system();

-- name: statistics
-- Reads since when there are statistics. A crash discards them.
SELECT stats_reset FROM pg_stat_bgwriter;

-- name: standbys
-- Counts what streams from this server.
SELECT count(*) FROM pg_stat_replication;

-- name: connections
-- Counts sessions. Every role sees which database they are in, and little else.
SELECT count(*) FROM pg_stat_activity WHERE datid IS NOT NULL;

-- name: lacking
-- Lists what pgflurry.grant_lease() grants and this role lacks. One row with NULL: schema pgflurry is not there.
SELECT needed.name
FROM (VALUES (NULL::text)) AS absent (name)
    FULL JOIN (
        SELECT format('%s on %s', privilege, object), object, privilege, columns
        FROM (VALUES
            ('pgflurry.namespace', 'SELECT', NULL::text[]),
            ('pgflurry.worker', 'SELECT', NULL),
            ('pgflurry.migration', 'SELECT', NULL),
            ('pgflurry.segment', 'SELECT', NULL),
            ('pgflurry.namespace', 'UPDATE', '{timeline,acquire_after,joins_complete_on}'),
            ('pgflurry.leasable_worker', 'SELECT', NULL),
            ('pgflurry.leasable_worker', 'UPDATE',
             '{owner,term,reserved_until,released_at,node,address,version,acquired_at,renewed_at}'),
            ('pgflurry.segment', 'UPDATE', '{max_id,update_time}')) AS v (object, privilege, columns)
    ) AS needed (name, object, privilege, columns) ON false
WHERE CASE
    WHEN to_regnamespace('pgflurry') IS NULL THEN needed.object IS NULL
    WHEN needed.object IS NULL THEN false
    WHEN NOT has_schema_privilege('pgflurry', 'USAGE') THEN true
    WHEN needed.columns IS NULL THEN has_table_privilege(to_regclass(needed.object), needed.privilege) IS NOT TRUE
    ELSE EXISTS (SELECT FROM unnest(needed.columns) AS c
                 WHERE has_column_privilege(to_regclass(needed.object), c, needed.privilege) IS NOT TRUE)
END
ORDER BY 1;

-- name: lane
-- Reads whether the sequence of next_snowflake() is unlogged (u). No row: it is not there.
SELECT relpersistence::text FROM pg_class WHERE oid = to_regclass('pgflurry.lane');

-- name: make_marker
-- Makes the marker, in a transaction whose commit waits for the standby, if there is one: only a lost write loses it.
SET LOCAL synchronous_commit = on;
DROP SEQUENCE IF EXISTS public.pgflurry_doctor;
CREATE UNLOGGED SEQUENCE public.pgflurry_doctor;
COMMENT ON SEQUENCE public.pgflurry_doctor IS 'Made by "pgflurry doctor --before", dropped by --after. Harmless.';

-- name: set_marker
-- Gives the marker a value that a sequence which has started over does not have.
-- $1 the value
SELECT setval('public.pgflurry_doctor', $1::bigint);

-- name: marker
-- Reads the marker. is_called is false if it has started over.
SELECT last_value, is_called FROM public.pgflurry_doctor;

-- name: drop_marker
-- Drops the marker.
DROP SEQUENCE IF EXISTS public.pgflurry_doctor;
