-- Who holds the lock of migrations. $1 its key
SELECT pid FROM pg_locks JOIN pg_database AS d ON d.oid = database
WHERE locktype = 'advisory' AND granted AND d.datname = current_database()
  AND ((classid::bigint << 32) | objid::bigint) = $1
