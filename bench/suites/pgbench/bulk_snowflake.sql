SELECT count(next_snowflake()) FROM generate_series(1, 100000);
