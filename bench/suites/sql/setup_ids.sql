DROP SCHEMA IF EXISTS pgflurry_bench CASCADE;
CREATE SCHEMA pgflurry_bench;
CREATE SEQUENCE pgflurry_bench.ids;
CREATE SEQUENCE pgflurry_bench.ids_cached CACHE 1000;
SELECT pgflurry.create_offset_sequences('pgflurry_bench.offset', 2, 1);
INSERT INTO pgflurry.segment (biz_tag) VALUES ('pgflurry_bench') ON CONFLICT DO NOTHING;
INSERT INTO pgflurry.auto_increment (name, increment, "offset") VALUES ('pgflurry_bench', 2, 1) ON CONFLICT DO NOTHING;
CREATE TABLE pgflurry_bench.by_bigserial (id bigserial PRIMARY KEY, payload text NOT NULL);
-- The least that a DEFAULT in PL/pgSQL can do that callers may not draw past: the floor of next_snowflake().
CREATE UNLOGGED SEQUENCE pgflurry_bench.least;
CREATE FUNCTION pgflurry_bench.least() RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER AS
    $$ BEGIN RETURN pg_catalog.nextval('pgflurry_bench.least'::pg_catalog.regclass); END $$;
CREATE TABLE pgflurry_bench.by_least (id bigint PRIMARY KEY DEFAULT pgflurry_bench.least(), payload text NOT NULL);
CREATE TABLE pgflurry_bench.by_snowflake (id bigint PRIMARY KEY DEFAULT next_snowflake(), payload text NOT NULL);
