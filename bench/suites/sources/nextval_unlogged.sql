SELECT nextval('pgflurry_bench.least');
