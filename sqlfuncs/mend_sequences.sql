-- Finds unlogged sequences that cannot be read, and recreates them.
--
-- A bug of PostgreSQL breaks them; it is mended in 15.19, 16.15, 17.11 and 18.5. On a standby, replay keeps the first
-- page of an unlogged sequence in memory until the next restartpoint. A promotion copies it from disk, and finds zeros
-- there. A machine that loses its power soon after such a sequence was made ends the same way. Every draw then fails
-- with XX000, "bad magic number in sequence". Only DROP mends such a sequence.
--
-- The new sequence stands at its START, as after any promotion or crash. That is safe at any moment: see point 4 in
-- next_snowflake.sql. DROP waits for each transaction that has used the sequence, so no session is between a draw and
-- the setval that follows from it.

CREATE OR REPLACE FUNCTION pgflurry.unreadable_sequences() RETURNS SETOF name
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $fn$
DECLARE
    s        name;
    readable boolean;
BEGIN
    IF pg_is_in_recovery() THEN  -- a standby cannot read unlogged relations
        RETURN;
    END IF;
    FOR s IN SELECT relname FROM pg_class
        WHERE relnamespace = 'pgflurry'::regnamespace AND relkind = 'S' AND relpersistence = 'u' ORDER BY relname
    LOOP
        EXECUTE format('SELECT EXISTS (SELECT FROM pgflurry.%I)', s) INTO STRICT readable;  -- a sequence is one row
        IF NOT readable THEN
            RETURN NEXT s;
        END IF;
    END LOOP;
END $fn$;
COMMENT ON FUNCTION pgflurry.unreadable_sequences() IS
'The unlogged sequences of pgflurry that a failover left unreadable, so that each draw fails with XX000. '
'pgflurry.mend_sequences() recreates them.';

CREATE OR REPLACE FUNCTION pgflurry.mend_sequences() RETURNS SETOF name
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET client_min_messages = error SET lock_timeout = '2s' AS $fn$
DECLARE
    s record;
    g record;
BEGIN
    -- The lock of migrations: it keeps two sessions from mending, and one from dropping what the other has made. It
    -- comes first, because a look at a sequence would wait for a session that mends it.
    IF current_setting('transaction_read_only')::boolean
       OR NOT pg_try_advisory_xact_lock(x'7067666c75727279'::bigint) THEN
        RETURN;
    END IF;
    FOR s IN
        SELECT c.relname, c.relacl, c.relowner, obj_description(c.oid, 'pg_class') AS comment, q.*
        FROM pgflurry.unreadable_sequences() AS u (name)
            JOIN pg_class AS c ON c.relname = u.name AND c.relnamespace = 'pgflurry'::regnamespace
            JOIN pg_sequence AS q ON q.seqrelid = c.oid
    LOOP
        EXECUTE format('DROP SEQUENCE pgflurry.%I', s.relname);
        EXECUTE format('CREATE UNLOGGED SEQUENCE pgflurry.%I AS %s INCREMENT %s MINVALUE %s MAXVALUE %s START %s '
            'CACHE %s %s', s.relname, s.seqtypid::regtype, s.seqincrement, s.seqmin, s.seqmax, s.seqstart,
            s.seqcache, CASE WHEN s.seqcycle THEN 'CYCLE' ELSE 'NO CYCLE' END);
        EXECUTE format('COMMENT ON SEQUENCE pgflurry.%I IS %L', s.relname, s.comment);
        FOR g IN
            SELECT CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END AS grantee
            FROM aclexplode(s.relacl) AS a
            WHERE a.grantee <> s.relowner AND a.privilege_type = 'SELECT'
        LOOP
            EXECUTE format('GRANT SELECT ON SEQUENCE pgflurry.%I TO %s', s.relname, g.grantee);
        END LOOP;
        RETURN NEXT s.relname;
    END LOOP;
    IF FOUND THEN
        CALL pgflurry.keep_sequences();
    END IF;
END $fn$;
COMMENT ON FUNCTION pgflurry.mend_sequences() IS
'Recreates unlogged sequences of pgflurry that cannot be read, and returns their names. '
'Does nothing if all can be read, in a read-only transaction, and while a migration runs. '
'Waits two seconds at most for transactions that have used one. Proxies call it after a failover.';
REVOKE ALL ON FUNCTION pgflurry.mend_sequences() FROM PUBLIC;
