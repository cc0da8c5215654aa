-- Says whether there is the time zone $1. A zone such as UTC+3 is a rule of POSIX with the sign turned round. The view
-- reads hundreds of files, so the usual zone does not ask it.
SELECT $1::text = 'UTC' OR EXISTS (SELECT FROM pg_catalog.pg_timezone_names WHERE lower(name) = lower($1));
