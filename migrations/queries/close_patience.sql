-- Limits the wait for each lock of the transaction. Renewals queue behind the locks that it waits for.
-- $1 such as 5000ms
SELECT set_config('lock_timeout', $1, true)
