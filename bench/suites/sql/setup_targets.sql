CREATE TABLE pgflurry_bench.by_bigserial (id bigserial PRIMARY KEY, payload text NOT NULL);
CREATE TABLE pgflurry_bench.by_snowflake (id bigint PRIMARY KEY DEFAULT next_snowflake(), payload text NOT NULL);
