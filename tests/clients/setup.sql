CREATE TABLE item (id bigint DEFAULT next_snowflake() PRIMARY KEY, name text);
CREATE ROLE client_password LOGIN PASSWORD 'right' IN ROLE login_password;
CREATE ROLE client_scram LOGIN PASSWORD 'right' IN ROLE login_scram;
