-- snowflake_settled(max_age): below it no more rows appear. So a reader with a cursor on id misses none.
--
-- Promise. A statement with snapshot A calls it and gets S. Then each row with id < S that any later snapshot of this
-- database shows is visible in A. That holds for rows whose ID was drawn (a) by next_snowflake() in this database, in
-- the transaction that stores the row, or (b) by anybody, at most max_age before that transaction began.
-- With later => true it holds for every snapshot that is taken after the call, and not for A.
--
-- Why.
--  1. A transaction draws after its xact_start, by the same clock. A draw of the function is at most lag_limit() ticks
--     behind that clock (ticks.sql), or ahead of it. Let o be the earliest xact_start of all open transactions. Then no
--     open one stores an ID below tick(o) - ticks(max_age) - lag_limit(). That tick, with zeros below it, is S. The
--     clock of next_snowflake() may take the first microsecond of a tick for the tick before, so o loses one.
--  2. A transaction that begins later is covered by the start of the caller's own, which comes before the list of
--     sessions is read. So it does not matter when in its transaction the caller asks. No clock is read.
--  3. xact_start is in the list before the transaction's first draw, and until its rows are visible to new snapshots. A
--     session may have begun and not reported it yet. Then it draws after the list was read, so after 2's start.
--  4. A transaction may end after A was taken and before the list is read. Then it is in neither. So each xid that A
--     shows as open or not yet given is looked up, after the list. If one has committed, the answer is NULL: ask again.
--     Commits in other databases look the same: they only delay. An aborted one stored nothing. A snapshot that is
--     taken after the call shows all these. In REPEATABLE READ there is none in this transaction.
--  5. Nobody knows when a prepared transaction began. An open one of this database gives NULL. It is looked for between
--     list and lookup: who prepares meanwhile is in the list or found here, who commits is found here or by the lookup.
--  6. A session hides its xact_start if track_activities is off, and a walsender always does. The first gives NULL, and
--     the second as soon as it has an xid. A superuser who switches the setting in a transaction can hide it.
--  7. Autovacuum stores no rows, and is left out.
--
-- STABLE, so that pg_current_snapshot() is A: a VOLATILE function sees a later one than the rows of its statement.
-- PARALLEL UNSAFE: it clears a cache of the session. SECURITY DEFINER: xact_start of other roles is shown only to
-- members of pg_read_all_stats. The owner has to be one, and callers need not be.

CREATE OR REPLACE FUNCTION pgflurry.snowflake_settled(max_age interval DEFAULT '30 s', later boolean DEFAULT false)
RETURNS bigint
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET intervalstyle = postgres AS $fn$
DECLARE
    seen   constant pg_snapshot := pg_current_snapshot();
    oldest timestamptz := transaction_timestamp();
    hidden boolean;  -- a session does not show when its transaction began
    next   bigint := pg_snapshot_xmax(seen)::text::bigint;  -- an xid that the snapshot does not know
BEGIN
    IF max_age IS NULL OR max_age < interval '0' OR max_age > interval '366 days' THEN
        RAISE EXCEPTION 'snowflake_settled: max_age is %, not 0 to 366 days', coalesce(max_age::text, 'null')
            USING ERRCODE = '22023',
                  HINT = 'It is how long before its transaction an ID may be drawn, such as ''30 seconds''.';
    END IF;
    IF pg_is_in_recovery() THEN
        RAISE EXCEPTION 'snowflake_settled: a standby does not know the open transactions of its primary'
            USING ERRCODE = '55000',
                  HINT = 'Store it in a row of the primary each second, and read that row here.';
    END IF;
    IF NOT pg_has_role(current_user, 'pg_read_all_stats', 'USAGE') THEN
        RAISE EXCEPTION 'snowflake_settled: its owner % cannot see when transactions of other roles began', current_user
            USING ERRCODE = '42501',
                  HINT = format('Run as an administrator: GRANT pg_read_all_stats TO %I', current_user);
    END IF;
    PERFORM pg_stat_clear_snapshot();  -- otherwise the list is that of the first look in this transaction
    SELECT least(oldest, min(s.xact_start)), coalesce(bool_or(s.xact_start IS NULL
            AND (s.state = 'disabled' OR starts_with(s.state, 'idle in') OR s.backend_xid IS NOT NULL)), false)
        INTO oldest, hidden
        FROM pg_stat_get_activity(NULL) AS s
        WHERE s.datid = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())
          AND s.backend_type IS DISTINCT FROM 'autovacuum worker';
    IF hidden OR EXISTS (SELECT FROM pg_prepared_xacts AS p WHERE p.database = current_database()) THEN
        RETURN NULL;
    END IF;
    IF later IS NOT TRUE OR current_setting('transaction_isolation') IN ('repeatable read', 'serializable') THEN
        IF EXISTS (SELECT FROM pg_snapshot_xip(seen) AS x WHERE pg_xact_status(x) = 'committed') THEN
            RETURN NULL;
        END IF;
        BEGIN
            LOOP
                IF pg_xact_status(next::text::xid8) = 'committed' THEN
                    RETURN NULL;
                END IF;
                next := next + 1;
            END LOOP;
        EXCEPTION WHEN invalid_parameter_value THEN
            NULL;  -- not given yet
        END;
    END IF;
    RETURN (SELECT (pgflurry.ticks(oldest - interval '1 microsecond') - pgflurry.ticks_of(max_age)
                    - pgflurry.lag_limit()) << (n.datacenter_bits + n.worker_bits + n.sequence_bits)
            FROM pgflurry.namespace AS n);
END $fn$;
COMMENT ON FUNCTION pgflurry.snowflake_settled(interval, boolean) IS
'Below it no more rows appear: a reader with a cursor on id takes the rows with id < snowflake_settled(), and misses '
'none. max_age is how long before its transaction an ID may be drawn; ''0'' where only DEFAULT next_snowflake() gives '
'keys. later: the answer is for statements that begin after this one, and commits meanwhile do not matter. '
'NULL: not known at the moment, ask again. Errors: 22023 bad argument, 42501 the owner is no member of '
'pg_read_all_stats, 55000 on a standby.';
