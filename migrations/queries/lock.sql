-- Waits at most a minute for other migrations of this database. The lock holds until the session ends. $1 key
SELECT set_config('lock_timeout', '1min', true), pg_advisory_lock($1)
