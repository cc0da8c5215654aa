-- The proxy answers this from memory.
SELECT next_snowflake();
