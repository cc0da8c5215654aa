SELECT nextval('bench_ids_cached');
