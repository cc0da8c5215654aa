-- Renewals wait meanwhile, so nothing here waits for long.
SET LOCAL lock_timeout = '2s';
LOCK TABLE pgflurry.worker IN SHARE ROW EXCLUSIVE MODE
