-- Idempotency tokens: call issue_token(ttl) before the form is shown, and redeem_token(token) within the transaction
-- that does the work. A commit keeps both the work and the redemption; a rollback gives the token back. So there is
-- never work with a token that is still good, nor a used token without work. If two sessions redeem at once, the second
-- waits for the first one's transaction, and gets false if that commits.
--
-- A token is an ID: unique, and easy to guess. It identifies a repeated request and is no secret.

CREATE OR REPLACE FUNCTION pgflurry.issue_token(ttl interval) RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $fn$
DECLARE
    issued bigint;
BEGIN
    PERFORM pgflurry.check_ttl('issue_token', ttl);
    INSERT INTO pgflurry.token AS t (token, expires_at) VALUES (public.next_snowflake(), clock_timestamp() + ttl)
        RETURNING t.token INTO issued;
    RETURN issued;
END $fn$;
COMMENT ON FUNCTION pgflurry.issue_token(interval) IS
'A new token, an ID of next_snowflake(), that redeem_token() takes once until ttl, 1 ms to 366 days, '
'has passed by the server''s clock. Errors: 22023 ttl NULL or out of range, and those of next_snowflake().';

CREATE OR REPLACE FUNCTION pgflurry.redeem_token(token bigint) RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $fn$
DECLARE
    in_time boolean;
BEGIN
    IF token IS NULL THEN
        RAISE EXCEPTION 'redeem_token: the token is null'
            USING ERRCODE = '22023', HINT = 'Give what issue_token() returned.';
    END IF;
    -- The condition again, because the delete may have waited for another session that redeemed.
    DELETE FROM pgflurry.token AS t WHERE t.token = redeem_token.token AND t.expires_at > clock_timestamp()
        RETURNING t.expires_at > clock_timestamp() INTO in_time;
    RETURN coalesce(in_time, false);
END $fn$;
COMMENT ON FUNCTION pgflurry.redeem_token(bigint) IS
'True once for each token of issue_token(), before it expires; else false. '
'In the caller''s transaction: a rollback gives the token back, and another session that redeems it meanwhile waits. '
'Errors: 22023 NULL, 25006 read-only transaction, 40001 in REPEATABLE READ.';

CREATE OR REPLACE FUNCTION pgflurry.clean_tokens(n integer DEFAULT 1000) RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $fn$
DECLARE
    cleaned integer;
BEGIN
    PERFORM pgflurry.check_batch('clean_tokens', n);
    -- as an array, because IN may run the subquery once for each row
    DELETE FROM pgflurry.token AS t WHERE t.token = ANY (ARRAY(
        SELECT old.token FROM pgflurry.token AS old WHERE old.expires_at <= clock_timestamp()
        ORDER BY old.expires_at LIMIT n FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS cleaned = ROW_COUNT;
    RETURN cleaned;
END $fn$;
COMMENT ON FUNCTION pgflurry.clean_tokens(integer) IS
'Removes at most n, 1 to 10000, tokens that have expired, the oldest first, and returns how many; never waits. '
'Run it now and then until it returns less than n. Errors: 22023 another n or NULL, 25006 read-only transaction.';
