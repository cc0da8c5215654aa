INSERT INTO pgflurry_bench.by_bigserial (payload) VALUES ('x');
