-- The roles and the database of the application, made once, through the primary:
--
--   psql "host=haproxy port=5000 user=postgres dbname=postgres" \
--       -v owner=… -v lease=… -v application=… -f roles.sql      (the passwords)
--
-- Then: pgflurry migrate up --database "host=haproxy port=5000 user=owner dbname=app"
-- And:  psql "host=haproxy port=5000 user=owner dbname=app" -c "CALL pgflurry.grant_lease('lease')"
\set ON_ERROR_STOP on

CREATE ROLE owner LOGIN PASSWORD :'owner';
CREATE ROLE lease LOGIN PASSWORD :'lease';
CREATE ROLE application LOGIN PASSWORD :'application';

CREATE DATABASE app OWNER owner;
