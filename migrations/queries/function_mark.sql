-- Reads how far the function has got: no ID of the function at or after this tick exists.
-- The locks wait for sessions that are starting a tick. Then nobody starts another until the transaction ends.
LOCK TABLE pgflurry.function_lock, pgflurry.function_lock_stand_in IN SHARE UPDATE EXCLUSIVE MODE;
SELECT greatest(m.last_value, s.last_value) FROM pgflurry.mark AS m, pgflurry.mark_stand_in AS s;
