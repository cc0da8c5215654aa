CREATE TABLE pgflurry_bench.rows (
    id bigint PRIMARY KEY DEFAULT nextval('pgflurry_bench.ids_cached'), payload text NOT NULL);
