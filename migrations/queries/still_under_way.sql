-- Finds the sessions (PIDs) that still run one of these transactions. $1 virtual transaction IDs
SELECT coalesce(array_agg(DISTINCT pid), '{}') FROM pg_locks
WHERE locktype = 'virtualxid' AND virtualtransaction = ANY ($1::text[])
