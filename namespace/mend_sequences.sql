-- Recreates the sequences that a failover left unreadable, and returns their names. Usually there are none.
SELECT s::pg_catalog.text FROM pgflurry.mend_sequences() AS s
