-- next_auto_increment(name): numbers offset, offset + increment, offset + 2 * increment ..., as MySQL gives them to
-- several servers that must not give the same number. MySQL ignores an offset above the increment; here it is still the
-- first number.
--
-- A draw is an UPDATE of the row in the caller's transaction. Numbers that were rolled back are drawn again, so
-- committed numbers have no gap. Transactions that draw from one name run one after the other.

CREATE OR REPLACE FUNCTION pgflurry.next_auto_increment(name text) RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $fn$
DECLARE
    drawn bigint;
BEGIN
    PERFORM pgflurry.check_text('next_auto_increment', 'name', name);
    -- the smallest number of the series that is above the last one
    UPDATE pgflurry.auto_increment AS a
        SET last = CASE WHEN a.last < a."offset" THEN a."offset"
                        ELSE a.last + a.increment - (a.last - a."offset") % a.increment END
        WHERE a.name = next_auto_increment.name AND a.last <= 9223372036854775807 - a.increment
        RETURNING a.last INTO drawn;
    IF FOUND THEN
        RETURN drawn;
    END IF;
    IF EXISTS (SELECT FROM pgflurry.auto_increment AS a WHERE a.name = next_auto_increment.name) THEN
        RAISE EXCEPTION 'next_auto_increment: % has come to the end of bigint', quote_literal(name)
            USING ERRCODE = '2200H', HINT = 'There is no larger number. Use another name.';
    END IF;
    RAISE EXCEPTION 'next_auto_increment: there is no name %', quote_literal(name)
        USING ERRCODE = '42704',
              HINT = format('Who owns schema pgflurry adds it: '
                  'INSERT INTO pgflurry.auto_increment (name, increment, "offset") VALUES (%L, 2, 1);', name);
END $fn$;

COMMENT ON FUNCTION pgflurry.next_auto_increment(text) IS
'The next number of a name, a row of pgflurry.auto_increment that exists: '
'the smallest of offset + n * increment above the last. '
'In the caller''s transaction: a rolled-back number comes again, '
'and the name is locked until the end of the transaction. '
'Errors: 42704 no such name, 22023 NULL or not 1 to 255 characters, 2200H no larger bigint, '
'25006 read-only transaction, 40001 in REPEATABLE READ.';
