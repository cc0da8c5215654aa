INSERT INTO pgflurry_bench_ids () VALUES ();
