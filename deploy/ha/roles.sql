-- Creates the roles and the database of the application. Run it once, on the primary, with a password for each role.
--
--   psql "host=haproxy port=5000 user=postgres dbname=postgres" \
--       -v owner=PASSWORD -v lease=PASSWORD -v application=PASSWORD -f roles.sql
--
-- Then: pgflurry migrate up --database "host=haproxy port=5000 user=owner dbname=app"
-- And:  psql "host=haproxy port=5000 user=owner dbname=app" -c "CALL pgflurry.grant_lease('lease')"
\set ON_ERROR_STOP on

CREATE ROLE owner LOGIN PASSWORD :'owner';
CREATE ROLE lease LOGIN PASSWORD :'lease';
CREATE ROLE application LOGIN PASSWORD :'application';

CREATE DATABASE app OWNER owner;
