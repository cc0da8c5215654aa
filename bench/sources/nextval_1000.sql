SELECT nextval('bench_ids') FROM generate_series(1, 1000);
