-- Lists the open transactions of the other sessions in this database.
SELECT l.virtualtransaction
FROM pg_locks AS l JOIN pg_stat_activity AS a ON a.pid = l.pid
WHERE l.locktype = 'virtualxid' AND l.granted AND a.datname = current_database() AND l.pid <> pg_backend_pid()
