-- A failover that no lease has noticed yet may have forgotten grants. They are over within a quarantine. Runs under the
-- locks of close_database().
UPDATE pgflurry.namespace
SET timeline = pgflurry.wal_timeline(),
    acquire_after = greatest(acquire_after, pgflurry.ticks(clock_timestamp() + quarantine))
WHERE home IS NULL AND timeline IS DISTINCT FROM pgflurry.wal_timeline() AND pgflurry.wal_timeline() IS NOT NULL
