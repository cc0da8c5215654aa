DROP SCHEMA IF EXISTS pgflurry_bench CASCADE;
CREATE SCHEMA pgflurry_bench;
CREATE UNLOGGED TABLE pgflurry_bench.many AS
    SELECT n AS id, md5(n::text) AS name, now() AS made FROM generate_series(1::bigint, 1000000) n;
CREATE UNLOGGED TABLE pgflurry_bench.copied (LIKE pgflurry_bench.many);
ANALYZE pgflurry_bench.many;
