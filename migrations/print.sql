-- The parts of the block that "migrate print" writes, between migrations and functions. Go fills in what begins with a
-- percent sign. They are parts of one block of PL/pgSQL, so none of them runs by itself.

-- name: head
-- pgflurry, layout %s
-- Written by "pgflurry migrate print". This one statement installs what "pgflurry migrate up" installs, on PostgreSQL
-- 15 and newer. PostgreSQL runs it whole or not at all. It may run again: then it adds what is missing. The statement
-- of a later version upgrades it.

-- name: begin
DECLARE
    -- Settings of the role or the session must not change what a migration does. The script restores them.
    settings_before CONSTANT pg_catalog.jsonb := (
        SELECT pg_catalog.jsonb_object_agg(s.name, pg_catalog.current_setting(s.name))
        FROM pg_catalog.unnest('{search_path,client_min_messages,lock_timeout,check_function_bodies,'
            'default_tablespace,default_table_access_method,quote_all_identifiers}'::pg_catalog.text[]) AS s (name));
    revision_made   CONSTANT integer := %d;  -- what this script installs
    revision_found  integer := 0;
BEGIN
PERFORM pg_catalog.set_config(s.name, s.value, true) FROM (VALUES
    ('search_path', 'pg_catalog, pg_temp'),
    ('client_min_messages', 'warning'),  -- hides notices about objects that do not exist yet
    ('lock_timeout', '1min'),
    ('check_function_bodies', 'on'),
    ('default_tablespace', ''),
    ('default_table_access_method', 'heap'),
    ('quote_all_identifiers', 'off')
) AS s (name, value);
PERFORM pg_advisory_xact_lock(%d);  -- the lock of "pgflurry migrate"

IF to_regclass('pgflurry.namespace') IS NOT NULL THEN
    IF NOT EXISTS (SELECT FROM pg_attribute
                   WHERE attrelid = to_regclass('pgflurry.migration') AND attname = 'number') THEN
        RAISE EXCEPTION 'schema pgflurry was made by a program from before the first migration of this one, '
            'and cannot be upgraded'
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  HINT = 'Remove it with the program that made it: "pgflurry migrate down".';
    END IF;
    IF to_regprocedure('pgflurry.revision()') IS NOT NULL THEN
        revision_found := pgflurry.revision();
    END IF;
    IF greatest(revision_found, (SELECT max(m.number) FROM pgflurry.migration AS m)) > revision_made THEN
        -- A newer version has already installed all of this. The script changes nothing.
        PERFORM set_config(s.name, s.value, true) FROM jsonb_each_text(settings_before) AS s (name, value);
        RETURN;
    ELSIF NOT EXISTS (SELECT FROM pgflurry.migration) THEN
        -- A dump of the schema alone (structure.sql) has restored the tables without rows. So no migration runs
        -- again, and the end of the script makes the rows.
        INSERT INTO pgflurry.migration (number) SELECT generate_series(1, revision_found);
    END IF;
END IF;

-- name: apply
IF NOT EXISTS (SELECT FROM pgflurry.migration WHERE number = %d) THEN

-- name: applied
INSERT INTO pgflurry.migration (number) VALUES (%d);
END IF;

-- name: namespace
PERFORM pgflurry.mend_sequences();
IF EXISTS (SELECT FROM pgflurry.namespace) AND NOT pgflurry.is_original() THEN
    RAISE EXCEPTION '%%', pgflurry.why_copied()
        USING ERRCODE = 'object_not_in_prerequisite_state',
              HINT = 'Run "pgflurry migrate up --database URL", which says how to go on. '
                  'In a database for tests: CALL pgflurry.new_namespace().';
END IF;
CALL pgflurry.create_namespace(%s, %d, %d, %d, %d, '%s', '%d ms', %d, NULL, NULL,
    new_disposable => %t, new_region => %s, new_foreign_workers => %s);
UPDATE pgflurry.namespace AS n SET installed_by = s.version
    FROM (SELECT %s::text) AS s (version) WHERE n.installed_by IS DISTINCT FROM s.version;

-- name: end
PERFORM set_config(s.name, s.value, true) FROM jsonb_each_text(settings_before) AS s (name, value);
END
