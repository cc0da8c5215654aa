-- Creates the roles that pg_hba.conf names (hba in main.go). Membership in one of them decides how a role logs in.
CREATE ROLE login_scram;
CREATE ROLE login_md5;
CREATE ROLE login_password;
