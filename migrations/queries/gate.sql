-- Of a home: how long no worker is granted still (ms), and whether no other database may join.
-- A standby does not tell its timeline, and so not whether joins are closed.
SELECT CASE WHEN n.home IS NULL AND n.acquire_after > now.tick
            THEN (extract(epoch FROM (n.acquire_after - now.tick) * n.unit) * 1000)::bigint ELSE 0 END,
       n.home IS NULL AND NOT pg_is_in_recovery()
           AND (n.joins_complete_on = coalesce(pgflurry.wal_timeline(), '')) IS NOT TRUE
FROM pgflurry.namespace AS n, LATERAL (SELECT pgflurry.ticks(clock_timestamp()) AS tick) AS now
