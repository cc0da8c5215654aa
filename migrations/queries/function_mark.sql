-- No ID of the function at or after this tick exists.
-- The locks wait until nobody is starting a tick; they hold until the transaction ends.
LOCK TABLE pgflurry.function_lock, pgflurry.function_lock_stand_in IN SHARE UPDATE EXCLUSIVE MODE;
SELECT greatest(m.last_value, s.last_value) FROM pgflurry.mark AS m, pgflurry.mark_stand_in AS s;
