CREATE TABLE pgflurry_bench.rows (id bigint PRIMARY KEY, payload text NOT NULL);
