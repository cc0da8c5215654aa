-- Converts an existing bigserial or identity column: its default becomes next_snowflake(), or its sequence again. Both
-- functions run with the rights of the caller, who must own the table, in one transaction with an ACCESS EXCLUSIVE lock
-- on it. They read the greatest value, which an index finds at once, and never rewrite a row. The statements are those
-- of convert_steps.sql.

-- Earlier versions had fewer arguments.
DROP FUNCTION IF EXISTS pgflurry.convert_to_snowflake(regclass, text);
DROP FUNCTION IF EXISTS pgflurry.lock_column(text, regclass, text);

CREATE OR REPLACE FUNCTION pgflurry.move_key(caller text, tab regclass, col text, old_sequence text, seq regclass)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp SET row_security = off SET quote_all_identifiers = off AS $fn$
DECLARE
    patience constant text := current_setting('lock_timeout');
    c       record;
    highest bigint;
    first   bigint;
    held    boolean;  -- whether this call got the lock of the table
    step    text;
BEGIN
    FOR attempt IN 1 .. 20 LOOP
        -- First without a lock, so that a conversion that is impossible blocks nobody.
        SELECT * INTO c FROM pgflurry.key_column(caller, tab, col, seq);
        PERFORM pgflurry.refuse_narrow(caller, tab, col, c.type, c.narrow);
        PERFORM pgflurry.check_isolation(caller);
        IF caller = 'convert_to_snowflake' THEN
            PERFORM FROM pgflurry.steps_to_snowflake(tab, col, old_sequence, seq);
        ELSE
            PERFORM FROM pgflurry.steps_to_sequence(tab, col, seq, NULL);
        END IF;
        IF NOT FOUND THEN
            RETURN false;
        END IF;
        held := false;
        BEGIN
            EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', tab);
            held := true;
            SELECT * INTO c FROM pgflurry.key_column(caller, tab, col, seq);
            PERFORM pgflurry.refuse_narrow(caller, tab, col, c.type, c.narrow);
            -- From here on nobody may draw from the sequence: setval() could give that number again. A session that has
            -- drawn already may wait for the table. So this wait must end before it becomes a deadlock.
            IF c.target IS NOT NULL
               AND (caller = 'convert_to_sequence' OR old_sequence = 'stop' OR c.identity <> '') THEN
                PERFORM set_config('lock_timeout', '300ms', true);
                EXECUTE format('ALTER SEQUENCE %s CACHE %s', c.target,
                    (SELECT seqcache FROM pg_sequence WHERE seqrelid = c.target));
                PERFORM set_config('lock_timeout', patience, true);
            END IF;
            EXECUTE format('SELECT max(%I) FROM %s', col, tab) INTO highest;
            IF caller = 'convert_to_snowflake' AND NOT c.snowflake THEN
                first := public.next_snowflake();
                IF highest >= first THEN
                    RAISE EXCEPTION 'convert_to_snowflake: %.% holds %, and next_snowflake() is at %',
                        tab, quote_ident(col), highest, first
                        USING ERRCODE = '55000',
                              HINT = 'Nothing is changed. New IDs would meet values that are there. '
                                  'A namespace with an earlier epoch gives larger ones.';
                END IF;
            END IF;
            FOR step IN SELECT s FROM pgflurry.steps_to_snowflake(tab, col, old_sequence, seq) AS s
                    WHERE caller = 'convert_to_snowflake'
                UNION ALL SELECT s FROM pgflurry.steps_to_sequence(tab, col, seq, highest) AS s
                    WHERE caller = 'convert_to_sequence'
            LOOP
                EXECUTE step;
            END LOOP;
            RETURN true;
        EXCEPTION WHEN lock_not_available THEN
            IF NOT held THEN  -- the caller's own lock_timeout for the table
                RAISE;
            END IF;
        END;
        PERFORM pg_sleep(0.1);
    END LOOP;
    RAISE EXCEPTION '%: transactions that have drawn from sequence % do not end', caller, c.target
        USING ERRCODE = '55P03',
              HINT = 'Nothing is changed. Look for them in pg_locks and pg_stat_activity, and call it again.';
END $fn$;
COMMENT ON FUNCTION pgflurry.move_key(text, regclass, text, text, regclass) IS
'Part of convert_to_snowflake() and convert_to_sequence(): takes the locks and executes the steps.';

CREATE OR REPLACE FUNCTION pgflurry.refuse_narrow(caller text, tab regclass, col text, type regtype, narrow text)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $fn$
BEGIN
    IF type <> 'bigint'::regtype THEN
        RAISE EXCEPTION '%: column % of table % is %, and IDs need bigint', caller, quote_ident(col), tab, type
            USING ERRCODE = '42804',
                  HINT = format('SELECT * FROM pgflurry.plan_conversion(%L, %L); says how to get there. '
                      'ALTER TABLE %s ALTER COLUMN %I TYPE bigint; rewrites the table, '
                      'and the columns that refer to it need bigint as well.', tab, col, tab, col);
    END IF;
    IF narrow IS NOT NULL THEN
        RAISE EXCEPTION '%: columns that refer to %.% are not bigint: %', caller, tab, quote_ident(col), narrow
            USING ERRCODE = '42804',
                  HINT = format('Make them bigint first: an ID would not fit. '
                      'SELECT * FROM pgflurry.plan_conversion(%L, %L); says how.', tab, col);
    END IF;
END $fn$;
COMMENT ON FUNCTION pgflurry.refuse_narrow(text, regclass, text, regtype, text) IS
'Error 42804 unless a column, and those that refer to it, are bigint; caller is for the message.';

CREATE OR REPLACE FUNCTION pgflurry.convert_to_snowflake(tab regclass, col text DEFAULT 'id',
    old_sequence text DEFAULT 'stop', seq regclass DEFAULT NULL) RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $fn$
DECLARE
    before record;
    done   boolean;
BEGIN
    IF old_sequence IS NULL OR old_sequence NOT IN ('stop', 'leave') THEN
        RAISE EXCEPTION 'convert_to_snowflake: old_sequence is %, not stop or leave', coalesce(old_sequence, 'null')
            USING ERRCODE = '22023',
                  HINT = 'stop: nextval() of the old sequence fails from now on. leave: it goes on as it was.';
    END IF;
    SELECT * INTO before FROM pgflurry.key_column('convert_to_snowflake', tab, col, seq);
    done := pgflurry.move_key('convert_to_snowflake', tab, col, old_sequence, seq);
    IF done AND coalesce(seq, before.drawn_from) <> before.owned IS NOT FALSE
       AND coalesce(seq, before.drawn_from) IS NOT NULL THEN
        RAISE NOTICE 'sequence % does not belong to the column', coalesce(seq, before.drawn_from)
            USING HINT = CASE WHEN seq IS NULL AND old_sequence = 'stop' THEN
                    format('It goes on. To stop it: pgflurry.convert_to_snowflake(%L, %L, seq => %L). ',
                        tab, col, before.drawn_from)
                    ELSE '' END
                || format('To switch back name it: pgflurry.convert_to_sequence(%L, %L, %L).',
                    tab, col, coalesce(seq, before.drawn_from));
    END IF;
    IF done AND old_sequence = 'stop' AND before.shared IS NOT NULL THEN
        RAISE NOTICE 'sequence % goes on: other columns draw from it: %',
            coalesce(seq, before.drawn_from, before.owned), before.shared
            USING HINT = 'Convert them too; the last one stops it, if the sequence is named or is its own.';
    END IF;
    RETURN done;
END $fn$;
COMMENT ON FUNCTION pgflurry.convert_to_snowflake(regclass, text, text, regclass) IS
'Makes next_snowflake() the default of a bigserial or identity column, also in all partitions. '
'Its IDs must be above every existing value. Stops the old sequence: its nextval() then fails with 2200H. '
'old_sequence => ''leave'' leaves the sequence as it is; call the function again to change that. '
'seq names the sequence if the column has none of its own: the column may then have no default. '
'False if there is nothing to do. pgflurry.plan_conversion() shows beforehand what it will do. '
'The caller must own the table, which is locked until the end of the transaction. '
'Errors: 55000 a value is not below next_snowflake() (the error has both), or the default is something else; '
'42804 the column, or one that refers to it, is not bigint; 42809 no table, a partition, or seq is no sequence; '
'42703 no such column; 42501 not the owner; 22023 NULL or another word; 25000 not READ COMMITTED; '
'55P03 transactions that have drawn from the sequence do not end; 25006 on a standby; those of next_snowflake().';

CREATE OR REPLACE FUNCTION pgflurry.convert_to_sequence(tab regclass, col text DEFAULT 'id', seq regclass DEFAULT NULL)
RETURNS boolean
LANGUAGE sql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $fn$
    SELECT pgflurry.move_key('convert_to_sequence', tab, col, NULL, seq)
$fn$;
COMMENT ON FUNCTION pgflurry.convert_to_sequence(regclass, text, regclass) IS
'Reverts convert_to_snowflake(): the column draws from its sequence or identity again, '
'from a number above every existing value. False if it draws from a sequence already. '
'seq names a sequence that does not belong to the column; the caller must own it. '
'Do not insert other IDs of the namespace into the table afterwards. '
'Errors: 55000 no sequence, or it ends below a value (the error has both), or the default is something else; '
'the rest as for convert_to_snowflake().';
