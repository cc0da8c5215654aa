-- next_snowflakes(n): many IDs with one call. The proxy answers SELECT * FROM next_snowflakes(n) from memory.

CREATE OR REPLACE FUNCTION public.next_snowflakes(n bigint) RETURNS SETOF bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE ROWS 1000 AS $fn$
BEGIN
    IF n IS NULL OR n OPERATOR(pg_catalog.<) 1::bigint OR n OPERATOR(pg_catalog.>) 10000::bigint THEN
        RAISE EXCEPTION 'next_snowflakes: n is %, not 1 to 10000', COALESCE(n::pg_catalog.text, 'null')
            USING ERRCODE = '22023',
                  HINT = 'For more IDs call it again, or use next_snowflake() as the DEFAULT of a column.';
    END IF;
    FOR i IN 1 .. n LOOP
        RETURN NEXT public.next_snowflake();
    END LOOP;
END $fn$;

COMMENT ON FUNCTION public.next_snowflakes(bigint) IS
'n IDs, in increasing order, 1 to 10000; each is the result of one next_snowflake(). '
'Errors: 22023 for another n or NULL, and those of next_snowflake().';
