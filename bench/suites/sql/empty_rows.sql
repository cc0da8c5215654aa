TRUNCATE pgflurry_bench.rows;
