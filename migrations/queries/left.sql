-- Lists objects in schema pgflurry that are not pgflurry's. Their owners would lose them with the schema, so "migrate
-- down" refuses. It runs after the functions and the tables of the migrations were removed.
SELECT pg_describe_object(classid, objid, objsubid)
FROM pg_depend
WHERE refclassid = 'pg_namespace'::regclass AND refobjid = to_regnamespace('pgflurry') AND deptype = 'n'
  AND NOT (classid = 'pg_class'::regclass AND objid = 'pgflurry.migration'::regclass)
ORDER BY 1
