-- Made anew for each visit, because some ORMs replace it.
DROP TABLE IF EXISTS item;
CREATE TABLE item (id bigint DEFAULT next_snowflake() PRIMARY KEY, name text);
