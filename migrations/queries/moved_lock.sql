-- Takes this database's lock for "migrate up --moved" of its ID space, until the transaction ends. Other databases of
-- the server see it in pg_locks.
SELECT pg_advisory_xact_lock(hashtextextended('pgflurry moved ' || n.id, 0)) FROM pgflurry.namespace AS n
