-- A table as an application would have it. It is temporary, so the demo leaves nothing behind.
CREATE TEMPORARY TABLE IF NOT EXISTS demo_order (id bigint DEFAULT next_snowflake() PRIMARY KEY);
