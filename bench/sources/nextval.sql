SELECT nextval('bench_ids');
