-- What a session of a command asks of its server.

-- name: session
-- Settings of a role or a database must not change what a migration does. search_path decides what names mean. With
-- synchronous_commit, a claimed worker is on disk, and on a synchronous standby, before anything uses it. If the wait
-- for that standby is cancelled, the server sends a WARNING, which must not be hidden. Settings that the server does
-- not know are left out: transaction_timeout came with PostgreSQL 17.
SELECT pg_catalog.set_config(name, value, false) FROM (VALUES
    ('synchronous_commit', 'on'),
    ('client_min_messages', 'warning'),
    ('search_path', 'pg_catalog, pg_temp'),
    ('statement_timeout', '0'),
    ('lock_timeout', '0'),
    ('transaction_timeout', '0'),
    ('idle_in_transaction_session_timeout', '0'),
    ('idle_session_timeout', '0'),
    ('default_transaction_read_only', 'off'),
    ('default_transaction_isolation', 'read committed'),
    ('check_function_bodies', 'on'),
    ('default_tablespace', ''),
    ('default_table_access_method', 'heap'),
    ('row_security', 'off'),  -- a row that a policy hides is an error: it could have the highest ID
    ('standard_conforming_strings', 'on'),
    ('quote_all_identifiers', 'off')
) AS settings (name, value)
WHERE pg_catalog.current_setting(name, true) IS NOT NULL;

-- name: as_origin
-- In a session with session_replication_role = replica, triggers and foreign keys take each write for one that another
-- database has already checked. Restore scripts set it, and some roles have it. Here the guards must hold.
SELECT pg_catalog.set_config('session_replication_role', 'origin', false)
WHERE pg_catalog.current_setting('session_replication_role') = 'replica';

-- name: leave
-- Cleans up the session: behind a pooler in transaction mode, another client may get it next.
RESET ALL;
SELECT pg_catalog.pg_advisory_unlock_all();

-- name: lock
-- Waits at most a minute for other migrations of this database. The lock holds until the session ends. $1 key
SELECT set_config('lock_timeout', '1min', true), pg_advisory_lock($1);

-- name: holder
-- Finds the session that holds the lock of the migrations, for the error message. $1 key of the lock
SELECT pid FROM pg_locks JOIN pg_database AS d ON d.oid = database
WHERE locktype = 'advisory' AND granted AND d.datname = current_database()
  AND ((classid::bigint << 32) | objid::bigint) = $1;

-- name: server
-- Reads what must be right before the first write: version, a writable server, the rights to create.
SELECT pg_catalog.current_setting('server_version_num')::integer,
       pg_catalog.current_setting('server_version'),
       pg_catalog.pg_is_in_recovery(),
       pg_catalog.pg_postmaster_start_time(),
       pg_catalog.current_database()::pg_catalog.text,
       current_user::pg_catalog.text,
       pg_catalog.to_regnamespace('pgflurry') IS NOT NULL,
       pg_catalog.to_regnamespace('public') IS NOT NULL,
       pg_catalog.has_database_privilege(pg_catalog.current_database(), 'CREATE'),
       coalesce((SELECT pg_catalog.pg_has_role(nspowner, 'USAGE') FROM pg_catalog.pg_namespace
                 WHERE nspname OPERATOR(pg_catalog.=) 'pgflurry'), true),
       coalesce((SELECT pg_catalog.pg_get_userbyid(nspowner)::pg_catalog.text FROM pg_catalog.pg_namespace
                 WHERE nspname OPERATOR(pg_catalog.=) 'pgflurry'), ''),
       coalesce((SELECT pg_catalog.has_schema_privilege(oid, 'CREATE') FROM pg_catalog.pg_namespace
                 WHERE nspname OPERATOR(pg_catalog.=) 'public'), false),
       -- revision of the schema (0: no schema, or unknown); from the function's source, because the function may be
       -- missing
       coalesce((SELECT substring(prosrc FROM '[0-9]+')::integer FROM pg_catalog.pg_proc
                 WHERE oid OPERATOR(pg_catalog.=) pg_catalog.to_regprocedure('pgflurry.revision()')), 0),
       -- which functions have a name in public (empty: nobody has chosen yet); from the source, too
       coalesce((SELECT substring(prosrc FROM '''([a-z]+)''') FROM pg_catalog.pg_proc
                 WHERE oid OPERATOR(pg_catalog.=)
                       pg_catalog.to_regprocedure('pgflurry.functions_in_public()')), '');

-- name: clock
-- Reads the server's clock.
SELECT clock_timestamp();

-- name: installed_by
-- Reads which version of the program installed the functions last.
SELECT installed_by FROM pgflurry.namespace;

-- name: recorded
-- Reads whether the record of the migrations exists. If somebody created the schema by hand, it does not.
SELECT to_regclass('pgflurry.migration') IS NOT NULL;

-- name: last_applied
-- Reads the number of the last applied migration (0: none).
SELECT coalesce(max(number), 0) FROM pgflurry.migration;
