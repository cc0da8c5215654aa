-- The databases that have joined the namespace that is at home here, as their workers' rows tell, one a row.
SELECT w.node, w.worker, coalesce(w.address, ''), w.acquired_at
FROM pgflurry.worker AS w, pgflurry.namespace AS n
WHERE n.home IS NULL AND w.kind = 'database' AND w.term > 0 AND w.released_at IS NULL AND w.worker <> n.function_worker
ORDER BY w.worker
