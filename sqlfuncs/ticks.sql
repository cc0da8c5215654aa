-- Time in ticks: whole units since the namespace's epoch. Used by the lease's statements and by migrations.
-- Bodies are parsed when they are installed, so the search_path of a caller means nothing to them.

CREATE OR REPLACE FUNCTION pgflurry.ticks(at timestamptz) RETURNS bigint
LANGUAGE sql STABLE STRICT PARALLEL SAFE
RETURN (SELECT floor((extract(epoch FROM at) - extract(epoch FROM n.epoch)) / extract(epoch FROM n.unit))::bigint
        FROM pgflurry.namespace AS n);

COMMENT ON FUNCTION pgflurry.ticks(timestamptz) IS
'The tick that holds an instant: whole units since the epoch of the namespace, rounded down. Negative before the epoch. NULL for NULL, and where the namespace row is missing.';

CREATE OR REPLACE FUNCTION pgflurry.ticks_of(length interval) RETURNS bigint
LANGUAGE sql STABLE STRICT PARALLEL SAFE
RETURN (SELECT ceil(extract(epoch FROM length) / extract(epoch FROM n.unit))::bigint FROM pgflurry.namespace AS n);

COMMENT ON FUNCTION pgflurry.ticks_of(interval) IS
'How many ticks an interval needs: its length in units, rounded up. NULL for NULL, and where the namespace row is missing.';

CREATE OR REPLACE FUNCTION pgflurry.wal_timeline() RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $fn$
BEGIN
    -- Not pg_control_checkpoint(): that one tells the old timeline until the first checkpoint after a promotion.
    RETURN substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8);
EXCEPTION WHEN OTHERS THEN
    RETURN NULL;  -- a standby, a server that lacks these functions, or a role that may not call them
END $fn$;

COMMENT ON FUNCTION pgflurry.wal_timeline() IS
'The WAL timeline this server writes now, 8 hex digits; another one than before means a promotion or a restore. NULL on a standby and where the server does not tell.';
