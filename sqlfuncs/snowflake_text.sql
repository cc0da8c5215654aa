-- snowflake_text(id, width): an ID as text of a fixed width, so that texts sort as IDs do.

CREATE OR REPLACE FUNCTION pgflurry.snowflake_text(id bigint, width integer) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $fn$
BEGIN
    IF id < 0 THEN
        RAISE EXCEPTION 'snowflake_text: % is negative and no ID', id
            USING ERRCODE = '22003', HINT = 'IDs are 0 to 9223372036854775807.';
    END IF;
    IF width < 1 OR width > 100 THEN
        RAISE EXCEPTION 'snowflake_text: width is %, not 1 to 100', width
            USING ERRCODE = '22023', HINT = 'Nineteen digits hold every ID.';
    END IF;
    IF length(id::text) > width THEN
        RAISE EXCEPTION 'snowflake_text: ID % has % digits, more than width %', id, length(id::text), width
            USING ERRCODE = '22003',
                  HINT = 'Digits are never cut: what is left of two IDs could be the same. '
                      'Nineteen digits hold every ID.';
    END IF;
    RETURN lpad(id::text, width, '0');
END $fn$;

COMMENT ON FUNCTION pgflurry.snowflake_text(bigint, integer) IS
'An ID in decimal digits, filled up with zeros on the left to width digits, 1 to 100; 19 hold every ID. '
'NULL for NULL. '
'Errors: 22003 for a negative number and for one that has more digits than width, 22023 for another width.';
