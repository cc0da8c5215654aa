-- Who holds the lock of migrations.
SELECT pid FROM pg_locks JOIN pg_database AS d ON d.oid = database
WHERE locktype = 'advisory' AND granted AND d.datname = current_database() AND ((classid::bigint << 32) | objid::bigint) = 8099555070862062201
