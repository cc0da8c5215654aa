SELECT snowflake_worker($1);
