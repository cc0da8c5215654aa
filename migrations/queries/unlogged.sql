-- The unlogged sequences of pgflurry as they are now: one that was made anew counts as another.
SELECT c.oid::text FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = 'pgflurry' AND c.relkind = 'S' AND c.relpersistence = 'u'
