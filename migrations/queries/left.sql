-- What is in schema pgflurry and not of a migration: whoever put it there would lose it with the schema. Runs when the rest is gone.
SELECT pg_describe_object(classid, objid, objsubid)
FROM pg_depend
WHERE refclassid = 'pg_namespace'::regclass AND refobjid = to_regnamespace('pgflurry') AND deptype = 'n'
  AND NOT (classid = 'pg_class'::regclass AND objid IN ('pgflurry.migration'::regclass, pg_get_serial_sequence('pgflurry.migration', 'id')::regclass))
ORDER BY 1
