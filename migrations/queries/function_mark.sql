-- No ID of the function at or after this tick exists. The lock waits until nobody is starting a tick; it holds until the transaction ends.
LOCK TABLE pgflurry.function_lock IN SHARE UPDATE EXCLUSIVE MODE;
SELECT last_value FROM pgflurry.mark;
