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
    ('standard_conforming_strings', 'on'),
    ('quote_all_identifiers', 'off')
) AS settings (name, value)
WHERE pg_catalog.current_setting(name, true) IS NOT NULL
