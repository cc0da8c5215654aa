-- Reads from the catalogs, and from the rights of this role, whether a proxy may answer next_segment() and
-- next_segments() in this database.
WITH named AS (
    SELECT p.oid, p.pronamespace AS space, n.nspname AS schema, p.proname AS name,
           p.proargtypes::pg_catalog.text AS arguments, p.prosrc AS body
    FROM pg_catalog.pg_proc AS p JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) p.pronamespace
    WHERE p.proname OPERATOR(pg_catalog.=) ANY ('{next_segment,next_segments}'::pg_catalog.name[])
), ours AS (
    -- the functions as the migration installs them: in schema pgflurry, and aliases in public that only call those
    SELECT f.* FROM named AS f
    WHERE f.arguments OPERATOR(pg_catalog.=)
          CASE WHEN f.name OPERATOR(pg_catalog.=) 'next_segment' THEN '25' ELSE '25 20' END
      AND (f.schema OPERATOR(pg_catalog.=) 'pgflurry'
              AND pg_catalog.strpos(f.body, 'pgflurry.take_segment') OPERATOR(pg_catalog.>) 0
           OR f.schema OPERATOR(pg_catalog.=) 'public'
              AND pg_catalog.pg_get_function_sqlbody(f.oid)
                  OPERATOR(pg_catalog.~) '^RETURN (pgflurry\.)?next_segments?\(tag(, n)?\)$'
              AND EXISTS (SELECT FROM pg_catalog.pg_depend AS d
                  JOIN named AS called ON called.oid OPERATOR(pg_catalog.=) d.refobjid
                  WHERE d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_proc'::pg_catalog.regclass
                    AND d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_proc'::pg_catalog.regclass
                    AND d.objid OPERATOR(pg_catalog.=) f.oid
                    AND called.schema OPERATOR(pg_catalog.=) 'pgflurry' AND called.name OPERATOR(pg_catalog.=) f.name))
)
SELECT
    -- whether both are there
    (SELECT pg_catalog.count(*) FROM ours WHERE ours.schema OPERATOR(pg_catalog.=) 'pgflurry')
        OPERATOR(pg_catalog.=) 2,
    -- whether both have an alias: "migrate up --functions all"
    (SELECT pg_catalog.count(*) FROM ours WHERE ours.schema OPERATOR(pg_catalog.=) 'public')
        OPERATOR(pg_catalog.=) 2,
    -- whether everybody may call all of them and use their schemas
    pg_catalog.has_schema_privilege('public', 'pgflurry', 'USAGE')
        AND NOT EXISTS (SELECT FROM ours WHERE NOT pg_catalog.has_schema_privilege('public', ours.space, 'USAGE')
            OR NOT pg_catalog.has_function_privilege('public', ours.oid, 'EXECUTE')),
    -- another function with one of these names in schema pgflurry: a call could mean it, by its arguments
    (SELECT coalesce(pg_catalog.min(f.oid::pg_catalog.regprocedure::pg_catalog.text), '') FROM named AS f
        WHERE f.schema OPERATOR(pg_catalog.=) 'pgflurry'
          AND NOT EXISTS (SELECT FROM ours WHERE ours.oid OPERATOR(pg_catalog.=) f.oid)),
    -- the same in every other schema where PostgreSQL looks: only PostgreSQL knows which one a call means
    (SELECT coalesce(pg_catalog.min(f.oid::pg_catalog.regprocedure::pg_catalog.text), '') FROM named AS f
        WHERE NOT EXISTS (SELECT FROM ours WHERE ours.oid OPERATOR(pg_catalog.=) f.oid)
          AND (f.schema OPERATOR(pg_catalog.=) 'public' OR pgflurry.is_searched(f.space))),
    -- whether this role may reserve blocks
    coalesce(pg_catalog.has_table_privilege(t.oid, 'SELECT')
             AND pg_catalog.has_column_privilege(t.oid, 'max_id', 'UPDATE')
             AND pg_catalog.has_column_privilege(t.oid, 'update_time', 'UPDATE'), false),
    current_user::pg_catalog.text
FROM (SELECT pg_catalog.to_regclass('pgflurry.segment') AS oid) AS t
