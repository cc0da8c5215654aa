-- Reads up to which position this server has flushed its WAL.
SELECT pg_current_wal_flush_lsn()::text
