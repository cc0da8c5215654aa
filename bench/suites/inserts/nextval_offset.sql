CREATE TABLE pgflurry_bench.rows (
    id bigint PRIMARY KEY DEFAULT nextval('pgflurry_bench.offset_1'), payload text NOT NULL);
