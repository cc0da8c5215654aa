-- Lists the locks of the function that are no views. What maintains tables would hold them, and stop all draws.
SELECT l.name FROM unnest('{function_lock,function_lock_stand_in}'::text[]) AS l (name)
LEFT JOIN pg_class AS c ON c.oid = to_regclass('pgflurry.' || l.name)
WHERE c.relkind IS DISTINCT FROM 'v'
