SELECT count(pgflurry_bench.least()) FROM generate_series(1, 100000);
