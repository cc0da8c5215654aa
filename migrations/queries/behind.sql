-- Lists the standbys that have not written the WAL up to position $1. Columns: name (NULL: this role may not see the
-- state of this standby), and whether it is connected, so that it may catch up.
-- A standby that has just connected has reported no position yet, and counts as behind. Three others do not count: a
-- logical subscription; pg_receivewal, which replays nothing; a base backup, which includes the WAL up to its own end.
SELECT CASE WHEN r.state IS NOT NULL THEN coalesce(nullif(r.application_name, ''), 'PID ' || r.pid) END AS name,
       true AS connected
FROM pg_stat_replication AS r LEFT JOIN pg_replication_slots AS s ON s.active_pid = r.pid
WHERE s.slot_type IS DISTINCT FROM 'logical'
  AND (r.state IS NULL
       OR r.state IN ('catchup', 'streaming') AND (r.flush_lsn >= $1::pg_lsn) IS NOT TRUE
          AND (r.write_lsn IS NULL OR r.replay_lsn IS NOT NULL))
UNION ALL
SELECT 'slot ' || slot_name, false FROM pg_replication_slots
WHERE slot_type = 'physical' AND NOT active AND restart_lsn < $1::pg_lsn
ORDER BY name
