-- What is in schema pgflurry and not of a migration: its owner would lose it with the schema.
-- Runs when the rest is gone.
SELECT pg_describe_object(classid, objid, objsubid)
FROM pg_depend
WHERE refclassid = 'pg_namespace'::regclass AND refobjid = to_regnamespace('pgflurry') AND deptype = 'n'
  AND NOT (classid = 'pg_class'::regclass AND objid = 'pgflurry.migration'::regclass)
ORDER BY 1
