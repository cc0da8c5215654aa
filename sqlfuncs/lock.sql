-- Locks with an owner and an expiry: SET NX PX of Redis, and its compare-and-delete, in SQL. They live in rows, not in
-- sessions. So they work behind a pooler in transaction mode, and survive a lost connection. Only the server's clock
-- decides whether a lock has expired.
--
-- Other sessions see a lock when the transaction that took it has committed, so call these functions in transactions of
-- their own. The fencing token is an ID of next_snowflake(), drawn while the row is locked. So it rises with each
-- taking, also after a rollback, after a crash, and if the row was cleaned away. Send it with each write under the
-- lock. The store must refuse a token below one that it has seen. That protects it from an owner that was paused until
-- after the expiry.
--
-- IDs of the function fall in one case: "namespace set --fresh-worker" leaves a worker whose IDs are far ahead of the
-- clock. That command writes into pgflurry.fencing_floor how far they got. Until the clock is there, a token is no ID.
-- It is one more than the last token of the name, or than the floor. So tokens of one name never fall and never repeat.
-- Two names may have equal tokens then.

CREATE SEQUENCE IF NOT EXISTS pgflurry.fencing_floor AS bigint MINVALUE 0 START 0 CACHE 1 NO CYCLE;
COMMENT ON SEQUENCE pgflurry.fencing_floor IS
'No ID of a worker that the function has left is above this number. Tokens of try_lock() begin above it. '
'0: the function has its first worker.';

CREATE OR REPLACE FUNCTION pgflurry.try_lock(name text, owner text, ttl interval) RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $fn$
DECLARE
    free  boolean;
    token bigint;
BEGIN
    PERFORM pgflurry.check_text('try_lock', 'name', name);
    PERFORM pgflurry.check_text('try_lock', 'owner', owner);
    PERFORM pgflurry.check_ttl('try_lock', ttl);
    LOOP
        SELECT l.owner IS NULL OR l.expires_at <= clock_timestamp() INTO free
            FROM pgflurry.lock AS l WHERE l.name = try_lock.name;
        IF free IS NULL THEN  -- no row; the session that makes it does not have the lock yet
            INSERT INTO pgflurry.lock AS l (name) VALUES (try_lock.name) ON CONFLICT ON CONSTRAINT lock_pkey DO NOTHING;
            CONTINUE;
        END IF;
        EXIT WHEN NOT free;
        -- checked again under the row's lock; a row that another transaction is changing counts as taken
        PERFORM FROM pgflurry.lock AS l
            WHERE l.name = try_lock.name AND (l.owner IS NULL OR l.expires_at <= clock_timestamp())
            FOR UPDATE SKIP LOCKED;
        EXIT WHEN NOT FOUND;
        token := public.next_snowflake();
        -- The floor is read after the draw: it rises before the first low ID.
        UPDATE pgflurry.lock AS l SET owner = try_lock.owner, expires_at = clock_timestamp() + ttl,
                fencing = greatest(token,
                    coalesce(l.fencing, (SELECT f.last_value FROM pgflurry.fencing_floor AS f)) + 1)
            WHERE l.name = try_lock.name RETURNING l.fencing INTO token;
        RETURN token;
    END LOOP;
    RETURN NULL;
END $fn$;
COMMENT ON FUNCTION pgflurry.try_lock(text, text, interval) IS
'Takes a lock for an owner until ttl, 1 ms to 366 days, has passed by the server''s clock. '
'Returns a fencing token, larger than all earlier ones of the name, or NULL if the lock is taken, '
'also by the same owner. Waits only for a transaction that uses the name for the very first time. '
'The token is an ID, unless the function has left a worker whose IDs are ahead of the clock. '
'Call it in a transaction of its own. '
'Errors: 22023 an argument NULL or out of range (texts: '
'1 to 255 characters), those of next_snowflake(), 40001 in REPEATABLE READ.';

CREATE OR REPLACE FUNCTION pgflurry.unlock(name text, owner text) RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $fn$
BEGIN
    PERFORM pgflurry.check_text('unlock', 'name', name);
    PERFORM pgflurry.check_text('unlock', 'owner', owner);
    UPDATE pgflurry.lock AS l SET owner = NULL, expires_at = clock_timestamp()
        WHERE l.name = unlock.name AND l.owner = unlock.owner AND l.expires_at > clock_timestamp();
    RETURN FOUND;
END $fn$;
COMMENT ON FUNCTION pgflurry.unlock(text, text) IS
'Releases the lock if this owner holds it, and returns true; false if it is another''s, free or expired. '
'Errors: 22023 an argument NULL or not 1 to 255 characters, 25006 read-only transaction, 40001 in REPEATABLE READ.';

CREATE OR REPLACE FUNCTION pgflurry.renew_lock(name text, owner text, ttl interval) RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $fn$
BEGIN
    PERFORM pgflurry.check_text('renew_lock', 'name', name);
    PERFORM pgflurry.check_text('renew_lock', 'owner', owner);
    PERFORM pgflurry.check_ttl('renew_lock', ttl);
    -- Waits here for another change of the row, so that the clock is read after it.
    PERFORM FROM pgflurry.lock AS l WHERE l.name = renew_lock.name AND l.owner = renew_lock.owner FOR NO KEY UPDATE;
    UPDATE pgflurry.lock AS l SET expires_at = clock_timestamp() + ttl
        WHERE l.name = renew_lock.name AND l.owner = renew_lock.owner AND l.expires_at > clock_timestamp();
    RETURN FOUND;
END $fn$;
COMMENT ON FUNCTION pgflurry.renew_lock(text, text, interval) IS
'If this owner holds the lock, lets it expire ttl, 1 ms to 366 days, from now, and returns true. '
'False if it is another''s, free or expired: then take it anew. The fencing token stays. '
'Errors: 22023 an argument NULL or out of range, 25006 read-only transaction, 40001 in REPEATABLE READ.';

CREATE OR REPLACE FUNCTION pgflurry.clean_locks(n integer DEFAULT 1000) RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $fn$
DECLARE
    cleaned integer;
    highest bigint;  -- a row with a higher token stays: only the row keeps the next token above it
BEGIN
    PERFORM pgflurry.check_batch('clean_locks', n);
    SELECT CASE f.last_value WHEN 0 THEN 9223372036854775807
                ELSE greatest(f.last_value, public.snowflake_floor(clock_timestamp()) - 1) END
        INTO highest FROM pgflurry.fencing_floor AS f;
    DELETE FROM pgflurry.lock AS l WHERE l.name = ANY (ARRAY(
        SELECT old.name FROM pgflurry.lock AS old
        WHERE old.expires_at <= clock_timestamp() - interval '1 minute' AND coalesce(old.fencing, 0) <= highest
        LIMIT n FOR UPDATE SKIP LOCKED));
    -- as an array, because IN may run the subquery once for each row
    GET DIAGNOSTICS cleaned = ROW_COUNT;
    RETURN cleaned;
END $fn$;
COMMENT ON FUNCTION pgflurry.clean_locks(integer) IS
'Removes the rows of at most n, 1 to 10000, locks that have been free for a minute, and returns how many; '
'never waits. It only saves space: fencing tokens go on rising. '
'Errors: 22023 another n or NULL, 25006 read-only transaction.';
