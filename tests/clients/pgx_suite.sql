-- Creates what pgx's own tests expect to find: see testsetup/postgresql_setup.sql of its module.
CREATE EXTENSION hstore;
CREATE EXTENSION ltree;
CREATE DOMAIN uint64 AS numeric(20, 0);
SET password_encryption = md5;
CREATE ROLE pgx_md5 LOGIN SUPERUSER PASSWORD 'secret' IN ROLE login_md5;
SET password_encryption = 'scram-sha-256';
CREATE ROLE pgx_pw LOGIN SUPERUSER PASSWORD 'secret' IN ROLE login_password;
CREATE ROLE pgx_scram LOGIN SUPERUSER PASSWORD 'secret' IN ROLE login_scram;
CREATE ROLE " tricky, ' } "" \ test user " SUPERUSER PASSWORD 'secret';
