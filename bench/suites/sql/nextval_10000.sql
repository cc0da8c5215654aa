SELECT nextval('pgflurry_bench.ids') FROM generate_series(1, 10000);
