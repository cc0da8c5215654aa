-- Until the transaction ends nobody acquires or renews a lease, or starts a tick. Meanwhile "migrate down" decides
-- whether it may remove everything, and does it.
LOCK TABLE pgflurry.namespace, pgflurry.worker, pgflurry.function_lock, pgflurry.function_lock_stand_in
    IN ACCESS EXCLUSIVE MODE;
