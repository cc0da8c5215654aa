-- Reads from the catalogs, for each name in a statement that a proxy may answer: whether it is there as the statement
-- means it, whether everybody may use it, and what else the name could mean, in the same schema and in any other one.
WITH meant (schema, name, arguments, result, many, body) AS (VALUES
    ('public', 'next_snowflake', '', 20, false, 'pgflurry[.]lane'),  -- the last: a pattern of the function's text
    ('public', 'next_snowflakes', '20', 20, true, 'public[.]next_snowflake[(][)]'),
    ('pg_catalog', 'generate_series', '23 23', 23, true, '^generate_series_int4$'),
    ('pg_catalog', 'text', 'type', 25, false, ''),
    ('pg_catalog', 'int8', 'type', 20, false, ''),
    ('pgflurry', 'next_segment', '25', 20, false, 'pgflurry[.]take_segment'),
    ('pgflurry', 'next_segments', '25 20', 20, true, 'pgflurry[.]take_segment'),
    ('public', 'next_segment', '25', 20, false, '^RETURN (pgflurry[.])?next_segment[(]tag[)]$'),  -- aliases
    ('public', 'next_segments', '25 20', 20, true, '^RETURN (pgflurry[.])?next_segments[(]tag, n[)]$')
), home (owner) AS (
    SELECT n.nspowner FROM pg_catalog.pg_namespace AS n WHERE n.nspname OPERATOR(pg_catalog.=) 'pgflurry'
), found AS (
    SELECT n.nspname AS schema, p.proname AS name, p.oid, p.pronamespace AS space, p.proowner AS owner,
           p.proargtypes::pg_catalog.text AS arguments, p.prorettype AS result, p.proretset AS many,
           coalesce(pg_catalog.pg_get_function_sqlbody(p.oid), p.prosrc) AS body,
           p.prokind OPERATOR(pg_catalog.=) 'f' AND p.proallargtypes IS NULL AS plain
    FROM pg_catalog.pg_proc AS p JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) p.pronamespace
    WHERE p.proname OPERATOR(pg_catalog.=) ANY (
        '{next_snowflake,next_snowflakes,next_segment,next_segments,generate_series}'::pg_catalog.name[])
    UNION ALL
    -- a type means its casts; and f('x') is one if f is a type, unless that is the type of a table's rows
    SELECT n.nspname, t.typname, t.oid, t.typnamespace, t.typowner, 'type', t.oid, false, '', true
    FROM pg_catalog.pg_type AS t JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) t.typnamespace
    WHERE t.typname OPERATOR(pg_catalog.=) ANY ('{text,int8,next_snowflakes,next_segment}'::pg_catalog.name[])
      AND (t.typrelid OPERATOR(pg_catalog.=) 0::pg_catalog.oid
           OR t.typname OPERATOR(pg_catalog.=) ANY ('{text,int8}'::pg_catalog.name[]))
    UNION ALL
    SELECT 'pg_catalog', 'text', c.oid, 0, 0, 'cast', 0, false, '', false
    FROM pg_catalog.pg_cast AS c
    WHERE c.castsource OPERATOR(pg_catalog.=) 20::pg_catalog.oid
      AND c.casttarget OPERATOR(pg_catalog.=) 25::pg_catalog.oid
), ours AS (
    SELECT f.oid, f.schema, f.name, f.space, f.arguments, f.result, f.many, f.body
    FROM found AS f JOIN meant AS m
        ON m.schema OPERATOR(pg_catalog.=) f.schema AND m.name OPERATOR(pg_catalog.=) f.name AND f.plain
       AND m.arguments OPERATOR(pg_catalog.=) f.arguments AND f.many OPERATOR(pg_catalog.=) m.many
       AND m.result::pg_catalog.oid OPERATOR(pg_catalog.=) f.result AND f.body OPERATOR(pg_catalog.~) m.body
    WHERE (f.schema OPERATOR(pg_catalog.=) 'pg_catalog'
           OR pg_catalog.pg_has_role(f.owner, (SELECT owner FROM home), 'MEMBER'))
      -- the text of an alias may leave the schema out, by the search_path of this session
      AND (pg_catalog.left(f.body, 7) OPERATOR(pg_catalog.<>) 'RETURN '
           OR EXISTS (SELECT FROM pg_catalog.pg_depend AS d
                      JOIN found AS called ON called.oid OPERATOR(pg_catalog.=) d.refobjid
                      WHERE d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_proc'::pg_catalog.regclass
                        AND d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_proc'::pg_catalog.regclass
                        AND d.objid OPERATOR(pg_catalog.=) f.oid AND called.schema OPERATOR(pg_catalog.=) 'pgflurry'))
), clones AS (
    -- tools for tenants clone public with ours in it, and may put the other schema into the text
    SELECT f.oid, f.schema, f.name, f.body OPERATOR(pg_catalog.=) o.body AS same
    FROM found AS f JOIN ours AS o
        ON o.schema OPERATOR(pg_catalog.=) 'public' AND o.name OPERATOR(pg_catalog.=) f.name AND f.plain
       AND o.arguments OPERATOR(pg_catalog.=) f.arguments AND o.many OPERATOR(pg_catalog.=) f.many
       AND o.result OPERATOR(pg_catalog.=) f.result
       AND (f.body OPERATOR(pg_catalog.=) o.body
            OR f.body OPERATOR(pg_catalog.=) pg_catalog.replace(o.body, 'public.next_snowflake()',
                pg_catalog.quote_ident(f.schema) OPERATOR(pg_catalog.||) '.next_snowflake()'))
    WHERE f.oid OPERATOR(pg_catalog.<>) o.oid AND pg_catalog.has_function_privilege('public', f.oid, 'EXECUTE')
      AND pg_catalog.pg_has_role(f.owner, (SELECT owner FROM home), 'MEMBER')
), others AS (
    -- not what came with PostgreSQL. It looks for nothing in temporary schemas, but for types of the session's own
    SELECT f.schema, f.name,
           CASE f.arguments
               WHEN 'type' THEN 'type ' OPERATOR(pg_catalog.||) pg_catalog.format_type(f.oid, NULL)
               WHEN 'cast' THEN 'a cast from bigint'
               ELSE 'function ' OPERATOR(pg_catalog.||) f.oid::pg_catalog.regprocedure::pg_catalog.text
           END AS what
    FROM found AS f
    WHERE f.oid OPERATOR(pg_catalog.>=) 16384::pg_catalog.oid
      AND NOT EXISTS (SELECT FROM ours WHERE ours.oid OPERATOR(pg_catalog.=) f.oid)
      AND f.schema::pg_catalog.text OPERATOR(pg_catalog.!~) '^pg_(toast_)?temp_'
      AND NOT EXISTS (SELECT FROM clones AS c WHERE c.oid OPERATOR(pg_catalog.=) f.oid
          -- one that names its own schema calls a clone there, too
          AND (c.same OR EXISTS (SELECT FROM clones AS called WHERE called.schema OPERATOR(pg_catalog.=) c.schema
                                 AND called.name OPERATOR(pg_catalog.=) 'next_snowflake')))
)
SELECT m.schema, m.name,
       EXISTS (SELECT FROM ours AS o WHERE o.schema OPERATOR(pg_catalog.=) m.schema
               AND o.name OPERATOR(pg_catalog.=) m.name),
       NOT EXISTS (SELECT FROM ours AS o
           WHERE o.schema OPERATOR(pg_catalog.=) m.schema AND o.name OPERATOR(pg_catalog.=) m.name
             AND (pg_catalog.has_schema_privilege('public', o.space, 'USAGE')
                  AND CASE o.arguments WHEN 'type' THEN true
                      ELSE pg_catalog.has_function_privilege('public', o.oid, 'EXECUTE') END) IS NOT TRUE),
       (SELECT coalesce(pg_catalog.min(a.what), '') FROM others AS a
        WHERE a.name OPERATOR(pg_catalog.=) m.name AND a.schema OPERATOR(pg_catalog.=) m.schema),
       (SELECT coalesce(pg_catalog.min(a.what), '') FROM others AS a
        WHERE a.name OPERATOR(pg_catalog.=) m.name AND a.schema OPERATOR(pg_catalog.<>) m.schema)
FROM meant AS m
