-- Facts about this server: NULL if it does not show them, never an error.

CREATE OR REPLACE FUNCTION pgflurry.wal_timeline() RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $fn$
BEGIN
    -- Not pg_control_checkpoint(): it shows the old timeline until the first checkpoint after a promotion.
    RETURN substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8);
EXCEPTION WHEN OTHERS THEN
    RETURN NULL;  -- a standby, a server that lacks these functions, or a role that may not call them
END $fn$;

COMMENT ON FUNCTION pgflurry.wal_timeline() IS
'The WAL timeline this server writes now, 8 hex digits; another one than before means a promotion or a restore. '
'NULL on a standby, and if the server does not show it.';

CREATE OR REPLACE FUNCTION pgflurry.system_identifier() RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $fn$
BEGIN
    RETURN (SELECT system_identifier FROM pg_control_system());
EXCEPTION WHEN undefined_function OR insufficient_privilege OR feature_not_supported THEN
    RETURN NULL;  -- a server that lacks this function, or does not let the owner call it
END $fn$;

COMMENT ON FUNCTION pgflurry.system_identifier() IS
'Identity of the server cluster, made by initdb and shared by physical copies. NULL if the server does not show it.';

CREATE OR REPLACE FUNCTION pgflurry.server_life() RETURNS text
LANGUAGE sql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $fn$
    SELECT coalesce(pgflurry.wal_timeline(), '') || '@' || extract(epoch FROM pg_postmaster_start_time())
$fn$;
COMMENT ON FUNCTION pgflurry.server_life() IS
'Which life of which server this is: its WAL timeline, if it shows it, and when it started. Another one than before '
'means that it may have forgotten something: it may have been restored, or another server may have written meanwhile.';

CREATE OR REPLACE FUNCTION pgflurry.server_began() RETURNS timestamptz
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $fn$
BEGIN
    -- The postmaster may survive a crash of its backends. But a crash discards the statistics, and dates the new ones.
    RETURN greatest(pg_postmaster_start_time(), (SELECT stats_reset FROM pg_stat_bgwriter));
EXCEPTION WHEN OTHERS THEN
    RETURN pg_postmaster_start_time();  -- a role that may not read the statistics, or a server without them
END $fn$;
COMMENT ON FUNCTION pgflurry.server_began() IS
'The last start of this server, or its last recovery from a crash. Later if somebody has reset the statistics.';
