SELECT next_snowflake();
