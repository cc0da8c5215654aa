DROP SCHEMA IF EXISTS pgflurry_bench CASCADE;
CREATE SCHEMA pgflurry_bench;
CREATE SEQUENCE pgflurry_bench.ids;
CREATE SEQUENCE pgflurry_bench.ids_cached CACHE 1000;
SELECT pgflurry.create_offset_sequences('pgflurry_bench.offset', 2, 1);
INSERT INTO pgflurry.segment (biz_tag) VALUES ('pgflurry_bench') ON CONFLICT DO NOTHING;
INSERT INTO pgflurry.auto_increment (name, increment, "offset") VALUES ('pgflurry_bench', 2, 1) ON CONFLICT DO NOTHING;
