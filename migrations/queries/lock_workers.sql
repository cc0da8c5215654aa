-- Keeps others from writing worker rows until the transaction ends. Renewals of leases queue behind this lock, even
-- while it waits itself. So it does not wait for long.
SET LOCAL lock_timeout = '2s';
LOCK TABLE pgflurry.worker IN SHARE ROW EXCLUSIVE MODE
