-- Of a home: whether no other database may join. A standby does not tell its timeline, and so not that either.
SELECT n.home IS NULL AND NOT pg_is_in_recovery()
       AND (n.joins_complete_on = coalesce(pgflurry.wal_timeline(), '')) IS NOT TRUE
FROM pgflurry.namespace AS n
