-- Sessions whose transaction is among these. $1 virtual transactions
SELECT coalesce(array_agg(DISTINCT pid), '{}') FROM pg_locks
WHERE locktype = 'virtualxid' AND virtualtransaction = ANY ($1::text[])
