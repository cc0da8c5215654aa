SELECT nextval('pgflurry_bench.ids');
