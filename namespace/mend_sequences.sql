-- Makes sequences anew that a failover left unreadable, and names them: usually none.
SELECT s::pg_catalog.text FROM pgflurry.mend_sequences() AS s
