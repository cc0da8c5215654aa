INSERT INTO pgflurry_bench.rows (payload) SELECT repeat('x', 64) FROM generate_series(1, 1000);
