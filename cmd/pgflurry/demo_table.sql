-- What an application would do; temporary, so that nothing stays.
CREATE TEMPORARY TABLE IF NOT EXISTS demo_order (id bigint DEFAULT next_snowflake() PRIMARY KEY);
