-- Reads from the catalogs whether a proxy may answer next_snowflake() and next_snowflakes() in this database.
SELECT
    -- whether next_snowflake() is there, as the migration installs it
    EXISTS (SELECT FROM pg_catalog.pg_proc AS p
            WHERE p.pronamespace OPERATOR(pg_catalog.=) 'public'::pg_catalog.regnamespace
              AND p.proname OPERATOR(pg_catalog.=) 'next_snowflake' AND p.pronargs OPERATOR(pg_catalog.=) 0
              AND pg_catalog.strpos(p.prosrc, 'pgflurry.lane') OPERATOR(pg_catalog.>) 0),
    -- whether everybody may call both functions and use their schema
    pg_catalog.has_schema_privilege('public', 'public', 'USAGE')
        AND NOT EXISTS (SELECT FROM pg_catalog.pg_proc AS p
            WHERE p.pronamespace OPERATOR(pg_catalog.=) 'public'::pg_catalog.regnamespace
              AND p.proname OPERATOR(pg_catalog.=) ANY ('{next_snowflake,next_snowflakes}'::pg_catalog.name[])
              AND NOT pg_catalog.has_function_privilege('public', p.oid, 'EXECUTE')),
    -- another function with one of these names in public: a call could mean it, by the types of its arguments
    (SELECT coalesce(pg_catalog.min(p.oid::pg_catalog.regprocedure::pg_catalog.text), '') FROM pg_catalog.pg_proc AS p
        WHERE p.pronamespace OPERATOR(pg_catalog.=) 'public'::pg_catalog.regnamespace
          AND (p.proname OPERATOR(pg_catalog.=) 'next_snowflake' AND p.pronargs OPERATOR(pg_catalog.<>) 0
               OR p.proname OPERATOR(pg_catalog.=) 'next_snowflakes'
                  AND p.proargtypes::pg_catalog.text OPERATOR(pg_catalog.<>) '20')),
    -- the same in another schema that could be searched: an unqualified call could mean it, by the search_path
    (SELECT coalesce(pg_catalog.min(p.oid::pg_catalog.regprocedure::pg_catalog.text), '') FROM pg_catalog.pg_proc AS p
        WHERE p.pronamespace OPERATOR(pg_catalog.<>) 'public'::pg_catalog.regnamespace
          AND p.proname OPERATOR(pg_catalog.=) ANY ('{next_snowflake,next_snowflakes}'::pg_catalog.name[])
          AND pgflurry.is_searched(p.pronamespace))
