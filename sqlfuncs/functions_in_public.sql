-- Which functions of schema pgflurry have an alias in public: a choice of "namespace set". A database stores
-- the choice in the text of one function, and nowhere else. So each copy and each dump has it, with data or without,
-- and logical replication cannot change it. Files fills it in: the operator's choice, or empty for none.

DO $do$
DECLARE
    asked  constant text := nullif('%s', '');
    before text;
    chosen text;
    alias  regprocedure;
    uses   text;
BEGIN
    IF to_regprocedure('pgflurry.functions_in_public()') IS NOT NULL THEN
        before := pgflurry.functions_in_public();
    END IF;
    chosen := coalesce(asked, before, 'snowflake');
    EXECUTE format('CREATE OR REPLACE FUNCTION pgflurry.functions_in_public() RETURNS text '
        'LANGUAGE sql IMMUTABLE PARALLEL SAFE AS %%L', format('SELECT %%L', chosen));

    -- Only this step drops aliases. It keeps those that somebody makes by hand later.
    IF before = 'all' AND chosen = 'snowflake' THEN
        SELECT string_agg(DISTINCT coalesce(pg_describe_object('pg_class'::regclass, r.ev_class, 0),
                pg_describe_object(d.classid, d.objid, d.objsubid)) || ' uses ' || p.oid::regprocedure, E'\n  ')
            INTO uses
            FROM pg_proc AS p
            JOIN pg_depend AS d ON d.refclassid = 'pg_proc'::regclass AND d.refobjid = p.oid AND d.deptype <> 'e'
            LEFT JOIN pg_rewrite AS r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid
            WHERE p.pronamespace = 'public'::regnamespace AND pgflurry.is_alias(p.oid)
              AND NOT starts_with(p.proname, 'snowflake_');
        IF uses IS NOT NULL THEN
            RAISE EXCEPTION 'short names of functions in public are in use, and would be dropped:%%', E'\n  ' || uses
                USING ERRCODE = 'dependent_objects_still_exist',
                      HINT = 'Change these to the name with its schema, such as pgflurry.incr, '
                          'or leave --functions out. No function was changed.';
        END IF;
        FOR alias IN
            SELECT p.oid FROM pg_proc AS p
            WHERE p.pronamespace = 'public'::regnamespace AND pgflurry.is_alias(p.oid)
              AND NOT starts_with(p.proname, 'snowflake_')
        LOOP
            EXECUTE 'DROP FUNCTION ' || alias;
        END LOOP;
    END IF;
END $do$;
COMMENT ON FUNCTION pgflurry.functions_in_public() IS
'Which functions have a name in public. snowflake: next_snowflake() and the other functions of IDs. '
'all: the others have an alias there as well. "namespace set --functions" changes it.';
