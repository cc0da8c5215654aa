CREATE ROLE client_password LOGIN PASSWORD 'right' IN ROLE login_password;
CREATE ROLE client_scram LOGIN PASSWORD 'right' IN ROLE login_scram;
