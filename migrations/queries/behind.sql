-- The standbys that have not written the log up to $1: a name, or NULL for one that this role may not look at, and
-- whether it is connected, so that it may come after.
-- A subscription is none; nor pg_receivewal, which replays nothing; nor a backup, which needs the log to its end.
-- A standby that has just connected has not said anything yet.
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
