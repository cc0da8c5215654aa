SELECT nextval('pgflurry_bench.offset_1');
