-- Lists the sequences that a failover left unreadable.
SELECT s::text FROM pgflurry.unreadable_sequences() AS s
