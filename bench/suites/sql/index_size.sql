SELECT pg_relation_size('pgflurry_bench.rows_pkey'), (SELECT count(*) FROM pgflurry_bench.rows);
