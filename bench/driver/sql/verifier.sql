SELECT rolpassword FROM pg_authid WHERE rolname = $1;
