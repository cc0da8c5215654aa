-- Fresh for each visit: some ORMs make it anew.
DROP TABLE IF EXISTS item;
CREATE TABLE item (id bigint DEFAULT next_snowflake() PRIMARY KEY, name text);
