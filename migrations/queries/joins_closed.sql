-- Reads whether this home refuses further databases that want to join, because it may have forgotten one that did. On a
-- standby, which does not show its timeline, the answer is always false.
SELECT n.home IS NULL AND NOT pg_is_in_recovery()
       AND (n.joins_complete_on = coalesce(pgflurry.wal_timeline(), '')) IS NOT TRUE
FROM pgflurry.namespace AS n
