CREATE TABLE item (id bigint DEFAULT next_snowflake() PRIMARY KEY, name text);
