SELECT next_snowflake() FROM generate_series(1, 1000);
