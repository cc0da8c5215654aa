-- Answered by the proxy from memory.
SELECT next_snowflake();
