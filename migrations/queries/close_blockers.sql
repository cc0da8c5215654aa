-- Lists who holds what close_database() waits for, the longest transaction first: PIDs, and names of prepared
-- transactions. $1 key of the lock of the migrations
SELECT coalesce('PID ' || l.pid, 'prepared transaction ' || p.gid, 'a prepared transaction')
FROM pg_locks AS l
LEFT JOIN pg_stat_activity AS a ON a.pid = l.pid
LEFT JOIN pg_prepared_xacts AS p ON l.pid IS NULL AND l.virtualtransaction = '-1/' || p.transaction
WHERE l.granted AND l.pid IS DISTINCT FROM pg_backend_pid()
  AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND (l.locktype = 'advisory' AND ((l.classid::bigint << 32) | l.objid::bigint) = $1
       OR l.locktype = 'relation' AND l.mode NOT IN ('AccessShareLock', 'RowShareLock')
          AND l.relation = ANY ('{pgflurry.namespace,pgflurry.worker,pgflurry.segment,pgflurry.auto_increment,'
              'pgflurry.replace_sequence,pgflurry.counter,pgflurry.token,pgflurry.lock,'
              'pgflurry.function_lock,pgflurry.function_lock_stand_in}'::regclass[]))
GROUP BY 1 ORDER BY min(a.xact_start)
