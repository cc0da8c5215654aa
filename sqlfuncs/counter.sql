-- incr(key) and its relatives: the counters of Redis. As in Redis: what an integer is, the value of a missing key, and
-- what overflows. Unlike Redis they are transactional: a rolled-back increment leaves no trace, and the key is locked
-- until the transaction ends. Also unlike Redis, a key has 1 to 255 characters, and a value that is no integer is
-- refused when it is set.

CREATE OR REPLACE FUNCTION pgflurry.add_to_counter(caller text, key text, n bigint) RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $fn$
DECLARE
    result bigint;
BEGIN
    PERFORM pgflurry.check_text(caller, 'key', key);
    IF n IS NULL THEN
        RAISE EXCEPTION '%: n is null', caller
            USING ERRCODE = '22023', HINT = 'Any bigint can be added, also a negative one.';
    END IF;
    INSERT INTO pgflurry.counter AS c (key, value) VALUES (add_to_counter.key, n)
        ON CONFLICT ON CONSTRAINT counter_pkey DO UPDATE SET value = c.value + n
        WHERE CASE WHEN n < 0 THEN c.value >= -9223372036854775808 - n ELSE c.value <= 9223372036854775807 - n END
        RETURNING c.value INTO result;
    IF NOT FOUND THEN
        RAISE EXCEPTION '%: adding % to % would overflow', caller, n, quote_literal(key)
            USING ERRCODE = '22003',
                  HINT = 'A counter is -9223372036854775808 to 9223372036854775807. It is unchanged.';
    END IF;
    RETURN result;
END $fn$;
COMMENT ON FUNCTION pgflurry.add_to_counter(text, text, bigint) IS
'Part of incr() and incrby(); caller is for messages.';
REVOKE ALL ON FUNCTION pgflurry.add_to_counter(text, text, bigint) FROM PUBLIC;

CREATE OR REPLACE FUNCTION pgflurry.incr(key text) RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $fn$
BEGIN
    RETURN pgflurry.add_to_counter('incr', key, 1);
END $fn$;
COMMENT ON FUNCTION pgflurry.incr(text) IS
'Adds 1 to the counter of a key and returns the new value; a missing key counts as 0. '
'In the caller''s transaction: a rollback undoes it, and the key is locked until the end of the transaction. '
'Errors: 22003 overflow, 22023 key NULL or not 1 to 255 characters, 25006 read-only transaction, '
'40001 in REPEATABLE READ.';

CREATE OR REPLACE FUNCTION pgflurry.incrby(key text, n bigint) RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $fn$
BEGIN
    RETURN pgflurry.add_to_counter('incrby', key, n);
END $fn$;
COMMENT ON FUNCTION pgflurry.incrby(text, bigint) IS
'Adds n, any bigint, to the counter of a key and returns the new value; a missing key counts as 0. '
'Errors: 22023 n NULL, and those of incr().';

CREATE OR REPLACE FUNCTION pgflurry.get_counter(key text) RETURNS bigint
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $fn$
BEGIN
    PERFORM pgflurry.check_text('get_counter', 'key', key);
    RETURN (SELECT c.value FROM pgflurry.counter AS c WHERE c.key = get_counter.key);
END $fn$;
COMMENT ON FUNCTION pgflurry.get_counter(text) IS
'The value of the counter of a key as of the beginning of the statement, NULL if there is none. '
'Errors: 22023 key NULL or not 1 to 255 characters.';

CREATE OR REPLACE FUNCTION pgflurry.set_counter(key text, value bigint) RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $fn$
BEGIN
    PERFORM pgflurry.check_text('set_counter', 'key', key);
    IF value IS NULL THEN
        RAISE EXCEPTION 'set_counter: the value is null' USING ERRCODE = '22023', HINT = 'A counter is any bigint.';
    END IF;
    INSERT INTO pgflurry.counter AS c (key, value) VALUES (set_counter.key, set_counter.value)
        ON CONFLICT ON CONSTRAINT counter_pkey DO UPDATE SET value = set_counter.value;
    RETURN value;
END $fn$;
COMMENT ON FUNCTION pgflurry.set_counter(text, bigint) IS
'Sets the counter of a key, and returns the value. '
'Errors: 22023 value NULL, key NULL or not 1 to 255 characters, 25006 read-only transaction, 40001 in REPEATABLE READ.';

CREATE OR REPLACE FUNCTION pgflurry.set_counter(key text, value text) RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $fn$
BEGIN
    -- an integer of Redis: no sign except a minus, no blank, no leading zero
    IF value !~ '^(0|-{0,1}[1-9][0-9]*)$' THEN
        RAISE EXCEPTION 'set_counter: % is not an integer', quote_literal(left(value, 40))
            USING ERRCODE = '22P02',
                  HINT = 'Digits, with a minus in front or none; no plus, no blanks, no zeros in front.';
    END IF;
    IF length(value) > 20 OR value::numeric NOT BETWEEN -9223372036854775808 AND 9223372036854775807 THEN
        RAISE EXCEPTION 'set_counter: % is out of range', left(value, 40)
            USING ERRCODE = '22003', HINT = 'A counter is -9223372036854775808 to 9223372036854775807.';
    END IF;
    RETURN pgflurry.set_counter(key, value::bigint);
END $fn$;
COMMENT ON FUNCTION pgflurry.set_counter(text, text) IS
'Sets the counter of a key to an integer written as Redis wants it, and returns it. '
'Errors: 22P02 no integer, 22003 out of range, and those of set_counter(text, bigint).';
