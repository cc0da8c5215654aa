-- Nobody acquires, renews or starts a tick while it is decided whether everything may go.
LOCK TABLE pgflurry.namespace, pgflurry.worker, pgflurry.function_lock, pgflurry.function_lock_stand_in
    IN ACCESS EXCLUSIVE MODE;
