-- Reads what must be right before the first write: version, a writable server, the rights to create.
SELECT pg_catalog.current_setting('server_version_num')::integer,
       pg_catalog.current_setting('server_version'),
       pg_catalog.pg_is_in_recovery(),
       pg_catalog.pg_postmaster_start_time(),
       pg_catalog.current_database()::pg_catalog.text,
       current_user::pg_catalog.text,
       pg_catalog.to_regnamespace('pgflurry') IS NOT NULL,
       pg_catalog.to_regnamespace('public') IS NOT NULL,
       pg_catalog.has_database_privilege(pg_catalog.current_database(), 'CREATE'),
       coalesce((SELECT pg_catalog.pg_has_role(nspowner, 'USAGE') FROM pg_catalog.pg_namespace
                 WHERE nspname OPERATOR(pg_catalog.=) 'pgflurry'), true),
       coalesce((SELECT pg_catalog.pg_get_userbyid(nspowner)::pg_catalog.text FROM pg_catalog.pg_namespace
                 WHERE nspname OPERATOR(pg_catalog.=) 'pgflurry'), ''),
       coalesce((SELECT pg_catalog.has_schema_privilege(oid, 'CREATE') FROM pg_catalog.pg_namespace
                 WHERE nspname OPERATOR(pg_catalog.=) 'public'), false),
       -- revision of the schema (0: no schema, or unknown); from the function's source, because the function may be
       -- missing
       coalesce((SELECT substring(prosrc FROM '[0-9]+')::integer FROM pg_catalog.pg_proc
                 WHERE oid OPERATOR(pg_catalog.=) pg_catalog.to_regprocedure('pgflurry.revision()')), 0),
       -- which functions have a name in public (empty: nobody has chosen yet); from the source, too
       coalesce((SELECT substring(prosrc FROM '''([a-z]+)''') FROM pg_catalog.pg_proc
                 WHERE oid OPERATOR(pg_catalog.=)
                       pg_catalog.to_regprocedure('pgflurry.functions_in_public()')), '')
