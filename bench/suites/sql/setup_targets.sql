CREATE TABLE pgflurry_bench.by_bigserial (id bigserial PRIMARY KEY, payload text NOT NULL);
-- The least that a DEFAULT in PL/pgSQL can do that callers may not draw past: the floor of next_snowflake().
CREATE UNLOGGED SEQUENCE pgflurry_bench.least;
CREATE FUNCTION pgflurry_bench.least() RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER AS
    $$ BEGIN RETURN pg_catalog.nextval('pgflurry_bench.least'::pg_catalog.regclass); END $$;
CREATE TABLE pgflurry_bench.by_least (id bigint PRIMARY KEY DEFAULT pgflurry_bench.least(), payload text NOT NULL);
CREATE TABLE pgflurry_bench.by_snowflake (id bigint PRIMARY KEY DEFAULT next_snowflake(), payload text NOT NULL);
