INSERT INTO pgflurry_bench.by_snowflake (payload) VALUES ('x');
