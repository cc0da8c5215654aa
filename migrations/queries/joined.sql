-- Lists the databases that have joined the namespace whose home this is, from the worker rows. In a database that is no
-- home, there are none.
SELECT w.node, w.worker, coalesce(w.address, ''), w.acquired_at
FROM pgflurry.worker AS w, pgflurry.namespace AS n
WHERE n.home IS NULL AND w.kind = 'database' AND w.term > 0 AND w.released_at IS NULL AND w.worker <> n.function_worker
ORDER BY w.worker
