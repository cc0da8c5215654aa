-- Waits a minute at most until no other migration of this database runs; holds until the session ends. $1 key
SELECT set_config('lock_timeout', '1min', true), pg_advisory_lock($1)
