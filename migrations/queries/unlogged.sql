-- Lists the unlogged sequences of pgflurry by oid: a sequence that was recreated has a new one.
SELECT c.oid::text FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = 'pgflurry' AND c.relkind = 'S' AND c.relpersistence = 'u'
