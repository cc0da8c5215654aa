-- Names in schema public, and which functions have them. pgflurry must not overwrite, shadow or drop a function of the
-- user's own.
--
-- Two kinds of names:
--
--  * The snowflake family lives in public alone, because the proxy answers for it there.
--    If another function has one of these signatures, nothing is installed: two meanings of next_snowflake() would be
--    two ID spaces.
--    A function is pgflurry's if its body has a certain text and its owner is right. So a function that was changed a
--    little is repaired, and one that was replaced is not. The owner matters because CREATE OR REPLACE keeps it.
--    Otherwise another role could create a function with that text beforehand, own it, and replace it later. Then its
--    callers would run that role's code.
--
--  * The other functions live in schema pgflurry. Those of IDs have an alias in public. All that applications call have
--    one if the operator has asked for it (functions_in_public.sql).
--    A function is an alias exactly if its body is RETURN pgflurry.name(its arguments) and its owner is right.
--    If any other function has the name, in any schema and with any arguments, no alias is made: calls that meant the
--    other one could then mean the alias. The qualified name always works.

CREATE OR REPLACE FUNCTION pgflurry.snowflake_family(OUT function text, OUT mark text) RETURNS SETOF record
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $fn$
    SELECT * FROM (VALUES
        ('next_snowflake()', 'pgflurry.lane'),
        ('next_snowflakes(bigint)', 'public.next_snowflake()'),
        ('snowflake_time(bigint)', 'is not an ID of layout'),
        ('snowflake_worker(bigint)', 'is not an ID of layout'),
        ('snowflake_sequence(bigint)', 'is not an ID of layout'),
        ('snowflake_parts(bigint)', 'public.snowflake_time(id)'),
        ('snowflake_floor(timestamp with time zone)', 'no ID of layout'),
        ('snowflake_ceil(timestamp with time zone)', 'no ID of layout')) AS family (function, mark)
$fn$;
COMMENT ON FUNCTION pgflurry.snowflake_family() IS
'The functions that live in public alone, without the name of the schema, '
'and a text that the body of each holds if it is pgflurry''s.';

CREATE OR REPLACE FUNCTION pgflurry.alias_names() RETURNS SETOF text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $fn$
    SELECT * FROM (VALUES
        ('next_segment'), ('next_segments'),
        ('next_auto_increment'), ('next_replace_id'),
        ('incr'), ('incrby'), ('get_counter'), ('set_counter'),
        ('uuidv4'), ('uuidv7'), ('uuidv7_time'),
        ('snowflake_text'), ('snowflake_base32'), ('snowflake_from_base32'), ('snowflake_settled'),
        ('issue_token'), ('redeem_token'),
        ('try_lock'), ('unlock'), ('renew_lock')) AS names (name)
    WHERE starts_with(name, 'snowflake_') OR pgflurry.functions_in_public() = 'all'
$fn$;
COMMENT ON FUNCTION pgflurry.alias_names() IS
'Names of functions of schema pgflurry that have an alias in public: those of IDs, '
'or, where functions_in_public() is all, what applications call. '
'What an administrator calls now and then has none.';

CREATE OR REPLACE FUNCTION pgflurry.alias_body(of oid) RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE
RETURN (SELECT format('RETURN pgflurry.%I(%s)', p.proname, coalesce((
            SELECT string_agg(quote_ident(name), ', ' ORDER BY place)
            FROM unnest(p.proargnames) WITH ORDINALITY AS a (name, place) WHERE place <= p.pronargs), ''))
        FROM pg_proc AS p WHERE p.oid = of);
COMMENT ON FUNCTION pgflurry.alias_body(oid) IS
'The body of an alias of a function: one call of the function of that name in schema pgflurry with the same '
'arguments. NULL for an oid that is no function.';

CREATE OR REPLACE FUNCTION pgflurry.is_alias(of oid) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $fn$
    SELECT EXISTS (SELECT FROM pg_proc AS p JOIN pg_namespace AS n ON n.nspname = 'pgflurry'
                   WHERE p.oid = of AND p.pronamespace = 'public'::regnamespace
                     AND pg_get_function_sqlbody(p.oid) = pgflurry.alias_body(p.oid)
                     AND pg_has_role(p.proowner, n.nspowner, 'MEMBER'))
$fn$;
COMMENT ON FUNCTION pgflurry.is_alias(oid) IS
'Whether a function is an alias that pgflurry made: by its body, and by its owner, '
'who is that of schema pgflurry or a member of that role.';

CREATE OR REPLACE FUNCTION pgflurry.foreign_functions() RETURNS SETOF text
LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $fn$
    SELECT p.oid::regprocedure::text
    FROM pgflurry.snowflake_family() AS f
    JOIN pg_proc AS p ON p.oid = to_regprocedure('public.' || f.function)
    JOIN pg_namespace AS n ON n.nspname = 'pgflurry'
    WHERE strpos(p.prosrc, f.mark) = 0 OR NOT pg_has_role(p.proowner, n.nspowner, 'MEMBER')
    ORDER BY 1
$fn$;
COMMENT ON FUNCTION pgflurry.foreign_functions() IS
'Functions in public that have a signature of the snowflake family and are not pgflurry''s, '
'by their body or because neither the owner of schema pgflurry nor a member of that role owns them: '
'while there is one, nothing is installed.';

CREATE OR REPLACE FUNCTION pgflurry.kept_names(OUT name text, OUT other text) RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $fn$
    SELECT ours.name, min(p.oid::regprocedure::text)
    FROM pgflurry.alias_names() AS ours (name)
    JOIN pg_proc AS p ON p.proname = ours.name
    JOIN pg_namespace AS n ON n.oid = p.pronamespace
    WHERE n.nspname <> 'pgflurry' AND NOT starts_with(n.nspname, 'pg_')  -- PostgreSQL's own, and what is temporary
      AND NOT pgflurry.is_alias(p.oid)
      AND NOT EXISTS (SELECT FROM pg_proc AS a WHERE a.proname = ours.name AND pgflurry.is_alias(a.oid))
    GROUP BY ours.name ORDER BY ours.name
$fn$;
COMMENT ON FUNCTION pgflurry.kept_names() IS
'Names that have no alias in public because another function of the database has the name, '
'with one such function each.';

CREATE OR REPLACE PROCEDURE pgflurry.refuse_foreign()
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $fn$
DECLARE
    one text;
BEGIN
    SELECT min(f) INTO one FROM pgflurry.foreign_functions() AS f;
    IF one IS NOT NULL THEN
        RAISE EXCEPTION 'there is a function % already, and it is not pgflurry''s', one
            USING ERRCODE = 'duplicate_function',
                  HINT = format('Rename or drop it, then run the migration again. '
                      'Role %I owns it; pgflurry''s own belong to the owner of schema pgflurry.',
                      (SELECT pg_get_userbyid(proowner) FROM pg_proc WHERE oid = one::regprocedure));
    END IF;
END $fn$;
COMMENT ON PROCEDURE pgflurry.refuse_foreign() IS
'Error 42723 if public has a function of a signature of the snowflake family that is not pgflurry''s.';

CREATE OR REPLACE PROCEDURE pgflurry.install_aliases()
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $fn$
DECLARE
    f record;
BEGIN
    FOR f IN
        SELECT p.oid, p.proname, pg_get_function_arguments(p.oid) AS arguments, pg_get_function_result(p.oid) AS result,
               CASE p.provolatile WHEN 'i' THEN 'IMMUTABLE' WHEN 's' THEN 'STABLE' ELSE 'VOLATILE' END
                   || CASE WHEN p.proisstrict THEN ' STRICT' ELSE '' END
                   || CASE p.proparallel WHEN 's' THEN ' PARALLEL SAFE' ELSE ' PARALLEL UNSAFE' END AS kind,
               p.oid::regprocedure AS signature
        FROM pg_proc AS p JOIN pgflurry.alias_names() AS ours (name) ON p.proname = ours.name
        WHERE p.pronamespace = 'pgflurry'::regnamespace
          AND ours.name NOT IN (SELECT name FROM pgflurry.kept_names())
        ORDER BY p.proname, p.oid::regprocedure::text
    LOOP
        IF EXISTS (SELECT FROM pg_proc AS a JOIN pg_proc AS p ON p.oid = f.oid
                   WHERE a.pronamespace = 'public'::regnamespace
                     AND a.proname = f.proname AND a.proargtypes = p.proargtypes
                     AND NOT pgflurry.is_alias(a.oid)) THEN
            CONTINUE;
        END IF;
        EXECUTE format('CREATE OR REPLACE FUNCTION public.%I(%s) RETURNS %s LANGUAGE sql %s %s',
            f.proname, f.arguments, f.result, f.kind, pgflurry.alias_body(f.oid));
        EXECUTE format('COMMENT ON FUNCTION public.%I(%s) IS %L', f.proname, pg_get_function_identity_arguments(f.oid),
            format('The same as %s: %s', f.signature, obj_description(f.oid, 'pg_proc')));
    END LOOP;
END $fn$;
COMMENT ON PROCEDURE pgflurry.install_aliases() IS
'Makes the aliases in public, except for names that another function of the database has. '
'May be run again at any time.';

CREATE OR REPLACE PROCEDURE pgflurry.drop_public()
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $fn$
DECLARE
    ours text;
BEGIN
    FOR ours IN
        SELECT p.oid::regprocedure::text FROM pg_proc AS p
            WHERE p.pronamespace = 'public'::regnamespace AND pgflurry.is_alias(p.oid)
        UNION ALL
        SELECT p.oid::regprocedure::text
            FROM pgflurry.snowflake_family() AS f
            JOIN pg_proc AS p ON p.oid = to_regprocedure('public.' || f.function)
            WHERE p.oid NOT IN (SELECT o::regprocedure FROM pgflurry.foreign_functions() AS o)
    LOOP
        EXECUTE 'DROP FUNCTION ' || ours;
    END LOOP;
END $fn$;
COMMENT ON PROCEDURE pgflurry.drop_public() IS
'Drops pgflurry''s own functions in public, without CASCADE, and no other.';
