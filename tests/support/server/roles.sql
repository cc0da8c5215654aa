-- The groups that hba in main.go names. Membership decides how a role logs in.
CREATE ROLE login_scram;
CREATE ROLE login_md5;
CREATE ROLE login_password;
