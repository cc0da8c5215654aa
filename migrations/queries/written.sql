-- How far the log is written here.
SELECT pg_current_wal_flush_lsn()::text
