-- Finds the session that holds the lock of the migrations, for the error message. $1 key of the lock
SELECT pid FROM pg_locks JOIN pg_database AS d ON d.oid = database
WHERE locktype = 'advisory' AND granted AND d.datname = current_database()
  AND ((classid::bigint << 32) | objid::bigint) = $1
