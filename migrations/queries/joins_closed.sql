-- Reads whether this home refuses further databases that want to join, because it may have forgotten one that did. On a
-- standby, which does not show its timeline, the answer is always false.
SELECT n.home IS NULL AND NOT pg_is_in_recovery()
       AND NOT pgflurry.joins_are_known()
FROM pgflurry.namespace AS n
