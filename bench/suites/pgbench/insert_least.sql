INSERT INTO pgflurry_bench.by_least (payload) VALUES ('x');
