-- Reads a digest of every function of pgflurry. "migrate status" compares it with that of a fresh installation.
-- An alias in public only calls the function of its name in schema pgflurry.
-- The list of names repeats pgflurry.snowflake_family(): that function is compared too, and may be missing or changed.
SELECT p.oid::regprocedure::text,
       md5(pg_get_functiondef(p.oid) || coalesce(obj_description(p.oid, 'pg_proc'), ''))
FROM pg_proc AS p
WHERE p.pronamespace = to_regnamespace('pgflurry')
   OR p.pronamespace = to_regnamespace('public')
      AND (p.proname IN ('next_snowflake', 'next_snowflakes', 'snowflake_time', 'snowflake_worker',
                         'snowflake_sequence', 'snowflake_parts', 'snowflake_floor', 'snowflake_ceil')
           OR pg_get_function_sqlbody(p.oid) LIKE format('RETURN pgflurry.%I(%%', p.proname))
