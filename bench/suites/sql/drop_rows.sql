DROP TABLE IF EXISTS pgflurry_bench.rows;
