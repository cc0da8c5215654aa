SELECT id, name, made FROM bench_rows;
