CREATE TABLE pgflurry_bench.rows (id bigint PRIMARY KEY DEFAULT next_snowflake(), payload text NOT NULL);
