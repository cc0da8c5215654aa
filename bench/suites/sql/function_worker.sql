SELECT snowflake_worker(next_snowflake());
