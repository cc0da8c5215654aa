DROP SEQUENCE IF EXISTS bench_ids, bench_ids_cached;
CREATE SEQUENCE bench_ids;
CREATE SEQUENCE bench_ids_cached CACHE 1000;
INSERT INTO pgflurry.segment (biz_tag) VALUES ('bench') ON CONFLICT DO NOTHING;
INSERT INTO pgflurry.auto_increment (name, increment, "offset") VALUES ('bench', 2, 1) ON CONFLICT DO NOTHING;
