-- Makes the functions read a clock that is $1 ahead. $1 is an expression whose value is cast to interval. The rest of
-- the installed text stays.
DO $do$
DECLARE
    f regprocedure;
BEGIN
    FOREACH f IN ARRAY ARRAY[
        'pgflurry.advance(bigint)', 'pgflurry.advance_slowly(bigint)', 'pgflurry.stand_in()',
        'pgflurry.advance_slowly_stand_in(bigint)', 'public.next_snowflake()'
    ]::regprocedure[] LOOP
        EXECUTE replace(replace(pg_get_functiondef(f), 'pg_catalog.clock_timestamp()', 'clock_timestamp()'),
            'clock_timestamp()',
            format('(pg_catalog.clock_timestamp() OPERATOR(pg_catalog.+) (%s)::interval)', $step$$1$step$));
    END LOOP;
END $do$
