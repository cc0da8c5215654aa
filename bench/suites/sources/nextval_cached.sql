SELECT nextval('pgflurry_bench.ids_cached');
