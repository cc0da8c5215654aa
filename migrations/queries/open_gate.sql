-- Opens the gate. The owner of the schema alone may do that.
UPDATE pgflurry.namespace SET acquire_after = 0 WHERE home IS NULL AND pgflurry.is_original()
