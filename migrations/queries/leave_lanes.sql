-- Lets the function begin anew, with the marks as they are. Run in the transaction that gives it another worker.
-- The lanes may be in a tick that the clock reaches in a year. With the rest of such a tick the new worker would give
-- IDs beyond its own mark. The locks wait for sessions that are starting a tick. Nobody starts another with the old
-- text until the transaction ends.
LOCK TABLE pgflurry.function_lock, pgflurry.function_lock_stand_in IN SHARE UPDATE EXCLUSIVE MODE;
CALL pgflurry.begin_anew(false);
