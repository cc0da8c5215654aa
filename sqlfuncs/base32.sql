-- snowflake_base32(id): an ID as 13 characters of Crockford's base32, for URLs, JSON and people.
-- https://www.crockford.com/base32.html has the alphabet and the check symbol.
--
-- The first character has 3 bits, each other one 5. All texts have the same length, and the alphabet rises, so texts
-- sort as IDs do (COLLATE "C"). generator/base32.go does the same in Go.
--
-- The check symbol is the ID modulo 37. 37 is a prime above 32, so a wrong character changes the remainder. So does a
-- swap of two neighbours: it changes the ID by 31 times their difference (shifted), and 37 does not divide that.

-- Without a search_path of its own, which would cost half as much again as the text. It needs none: the body of a
-- standard SQL function is bound when it is created.
CREATE OR REPLACE FUNCTION pgflurry.base32_digit(id bigint, place integer) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (id >> place & 31)::integer + 1, 1);
COMMENT ON FUNCTION pgflurry.base32_digit(bigint, integer) IS
'The character of the five bits of an ID that begin at a place, 0 to 60.';

CREATE OR REPLACE FUNCTION pgflurry.base32_check(id bigint) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ*~$=U', (id % 37)::integer + 1, 1);
COMMENT ON FUNCTION pgflurry.base32_check(bigint) IS 'The check symbol of an ID.';

CREATE OR REPLACE FUNCTION pgflurry.snowflake_base32(id bigint, with_check boolean DEFAULT false) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $fn$
BEGIN
    IF id OPERATOR(pg_catalog.<) 0 THEN
        RAISE EXCEPTION 'snowflake_base32: % is negative and no ID', id
            USING ERRCODE = '22003', HINT = 'IDs are 0 to 9223372036854775807.';
    END IF;
    RETURN pg_catalog.concat(
        pgflurry.base32_digit(id, 60), pgflurry.base32_digit(id, 55), pgflurry.base32_digit(id, 50),
        pgflurry.base32_digit(id, 45), pgflurry.base32_digit(id, 40), pgflurry.base32_digit(id, 35),
        pgflurry.base32_digit(id, 30), pgflurry.base32_digit(id, 25), pgflurry.base32_digit(id, 20),
        pgflurry.base32_digit(id, 15), pgflurry.base32_digit(id, 10), pgflurry.base32_digit(id, 5),
        pgflurry.base32_digit(id, 0), CASE WHEN with_check THEN pgflurry.base32_check(id) END);
END $fn$;
COMMENT ON FUNCTION pgflurry.snowflake_base32(bigint, boolean) IS
'An ID as 13 characters of Crockford''s base32, upper case, that sort as IDs do (COLLATE "C"). '
'with_check adds a 14th, the check symbol. NULL for NULL. Errors: 22003 a negative number.';

CREATE OR REPLACE FUNCTION pgflurry.snowflake_from_base32(encoded text, with_check boolean DEFAULT false) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $fn$
DECLARE
    -- "C", because the text may come from a column of any collation
    alphabet CONSTANT text COLLATE "C" := '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
    symbols  CONSTANT text COLLATE "C" :=
        translate(encoded, 'abcdefghjkmnpqrstuvwxyzOoIiLl-', 'ABCDEFGHJKMNPQRSTUVWXYZ001111');
    digits   CONSTANT text COLLATE "C" := left(symbols, 13);
    strange  CONSTANT text COLLATE "C" := CASE  -- only hyphens between characters are ignored
        WHEN left(encoded, 1) COLLATE "C" = '-' OR right(encoded, 1) COLLATE "C" = '-' THEN '-'
        ELSE left(translate(digits, alphabet, ''), 1) END;
    shown    CONSTANT text := left(encoded, 40);  -- for messages
    id       bigint := 0;
BEGIN
    IF length(symbols) NOT IN (13, 14) OR with_check AND length(symbols) = 13 THEN
        RAISE EXCEPTION 'snowflake_from_base32: "%" has % characters; expected %', shown, length(symbols),
            CASE WHEN with_check THEN '14' ELSE '13, or 14 with a check symbol' END
            USING ERRCODE = '22P02', HINT = 'Hyphens within do not count. snowflake_base32(id) writes 13 characters, '
                'and snowflake_base32(id, true) adds the check symbol.';
    END IF;
    IF strange <> '' THEN
        RAISE EXCEPTION 'snowflake_from_base32: "%" has the character "%", which is none of base32', shown, strange
            USING ERRCODE = '22P02', HINT = 'Base32 has digits, and letters without I, L, O and U. '
                'I and L are read as 1, O as 0.';
    END IF;
    IF digits >= '8' THEN
        RAISE EXCEPTION 'snowflake_from_base32: "%" has more than 63 bits', shown
            USING ERRCODE = '22003', HINT = 'The first of the 13 characters of an ID is 0 to 7.';
    END IF;
    FOR place IN 1..13 LOOP
        id := id << 5 | strpos(alphabet, substr(digits, place, 1)) - 1;
    END LOOP;
    IF length(symbols) = 14 AND right(symbols, 1) <> pgflurry.base32_check(id) THEN
        RAISE EXCEPTION 'snowflake_from_base32: the check symbol of "%" is wrong', shown
            USING ERRCODE = '22P02', HINT = 'A character is wrong, or two are swapped. Compare it with its source.';
    END IF;
    RETURN id;
END $fn$;
COMMENT ON FUNCTION pgflurry.snowflake_from_base32(text, boolean) IS
'The ID that snowflake_base32() wrote. Lower case, O for 0, I and L for 1 and hyphens within are read. '
'A check symbol is checked where there is one; with_check refuses a text without. NULL for NULL. '
'Errors: 22P02 wrong length, character or check symbol, 22003 more than 63 bits.';
