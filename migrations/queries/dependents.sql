-- Lists what uses pgflurry from outside, so that "migrate down" can refuse. These are defaults, generated columns,
-- views, indexes, constraints, and functions. If the body of a function is a string, PostgreSQL does not know what it
-- uses. So this looks for pgflurry's names in the string. It does not look for the aliases in public: names such as
-- incr or unlock also occur in functions that do not use pgflurry.
WITH ours AS (
    SELECT 'pg_proc'::regclass AS classid, p.oid AS objid
    FROM pg_proc AS p
    WHERE p.pronamespace = to_regnamespace('pgflurry')
       OR p.pronamespace = to_regnamespace('public')
          AND (p.oid IN (SELECT to_regprocedure('public.' || function) FROM pgflurry.snowflake_family())
               OR pgflurry.is_alias(p.oid))
    UNION ALL
    SELECT 'pg_class'::regclass, c.oid FROM pg_class AS c WHERE c.relnamespace = to_regnamespace('pgflurry')
), users AS (
    SELECT d.classid, d.objid, d.objsubid,
           -- the relation that a default, a rule, a constraint or a trigger belongs to
           coalesce((SELECT adrelid FROM pg_attrdef WHERE oid = d.objid AND d.classid = 'pg_attrdef'::regclass),
                    (SELECT ev_class FROM pg_rewrite WHERE oid = d.objid AND d.classid = 'pg_rewrite'::regclass),
                    (SELECT conrelid FROM pg_constraint WHERE oid = d.objid AND d.classid = 'pg_constraint'::regclass),
                    (SELECT tgrelid FROM pg_trigger WHERE oid = d.objid AND d.classid = 'pg_trigger'::regclass),
                    (SELECT oid FROM pg_class WHERE oid = d.objid AND d.classid = 'pg_class'::regclass)) AS relation
    FROM pg_depend AS d JOIN ours ON d.refclassid = ours.classid AND d.refobjid = ours.objid
    WHERE d.deptype = 'n' AND NOT EXISTS (SELECT FROM ours AS o WHERE o.classid = d.classid AND o.objid = d.objid)
)
SELECT DISTINCT CASE WHEN classid = 'pg_rewrite'::regclass THEN pg_describe_object('pg_class'::regclass, relation, 0)
                     ELSE pg_describe_object(classid, objid, objsubid) END AS what
FROM users
WHERE relation IS NULL OR relation NOT IN (SELECT objid FROM ours WHERE classid = 'pg_class'::regclass)
UNION
SELECT pg_describe_object('pg_proc'::regclass, p.oid, 0)
FROM pg_proc AS p
WHERE p.prosrc ~ '\m(next_snowflakes?|next_segments?|snowflake_(time|worker|sequence|parts|floor|ceil))\M|\mpgflurry\.'
  AND NOT EXISTS (SELECT FROM ours AS o WHERE o.classid = 'pg_proc'::regclass AND o.objid = p.oid)
  AND p.pronamespace <> 'pg_catalog'::regnamespace
ORDER BY what
