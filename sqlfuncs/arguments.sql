-- Checks of arguments for several families of functions. They check and do nothing else, so everybody may call them.
-- caller is the function that an error names.

CREATE OR REPLACE FUNCTION pgflurry.check_text(caller text, what text, value text) RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $fn$
BEGIN
    IF value IS NULL OR length(value) NOT BETWEEN 1 AND 255 THEN
        RAISE EXCEPTION '%: the % %', caller, what,
            CASE WHEN value IS NULL THEN 'is null'
                 WHEN value = '' THEN 'is empty'
                 ELSE format('has %s characters, more than 255', length(value)) END
            USING ERRCODE = '22023', HINT = format('A %s has 1 to 255 characters.', what);
    END IF;
END $fn$;
COMMENT ON FUNCTION pgflurry.check_text(text, text, text) IS
'Error 22023 unless value has 1 to 255 characters; caller and what are for the message.';

CREATE OR REPLACE FUNCTION pgflurry.check_ttl(caller text, ttl interval) RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET intervalstyle = postgres AS $fn$
BEGIN
    IF ttl IS NULL OR ttl < interval '1 millisecond' OR ttl > interval '366 days' THEN
        RAISE EXCEPTION '%: the time to live is %, not 1 ms to 366 days', caller, coalesce(ttl::text, 'null')
            USING ERRCODE = '22023', HINT = 'Write it as an interval, such as ''30 seconds''.';
    END IF;
END $fn$;
COMMENT ON FUNCTION pgflurry.check_ttl(text, interval) IS
'Error 22023 unless ttl is 1 ms to 366 days; caller is for the message.';

CREATE OR REPLACE FUNCTION pgflurry.check_batch(caller text, n integer) RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $fn$
BEGIN
    IF n IS NULL OR n < 1 OR n > 10000 THEN
        RAISE EXCEPTION '%: n is %, not 1 to 10000', caller, coalesce(n::text, 'null')
            USING ERRCODE = '22023',
                  HINT = 'Call it again, each time in a transaction of its own, until it returns less than n.';
    END IF;
END $fn$;
COMMENT ON FUNCTION pgflurry.check_batch(text, integer) IS
'Error 22023 unless n is 1 to 10000; caller is for the message.';

CREATE OR REPLACE FUNCTION pgflurry.check_isolation(caller text) RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $fn$
BEGIN
    IF current_setting('transaction_isolation') NOT IN ('read committed', 'read uncommitted') THEN
        RAISE EXCEPTION '%: the isolation level of this transaction is %',
            caller, current_setting('transaction_isolation')
            USING ERRCODE = '25000',
                  HINT = 'Call it in READ COMMITTED: it must see what others commit while it waits for its locks.';
    END IF;
END $fn$;
COMMENT ON FUNCTION pgflurry.check_isolation(text) IS
'Error 25000 unless the transaction is READ COMMITTED; caller is for the message.';
