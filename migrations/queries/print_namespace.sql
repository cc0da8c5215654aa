PERFORM pgflurry.mend_sequences();
IF EXISTS (SELECT FROM pgflurry.namespace) AND NOT pgflurry.is_original() THEN
    RAISE EXCEPTION '%%', pgflurry.why_copied()
        USING ERRCODE = 'object_not_in_prerequisite_state',
              HINT = 'Run "pgflurry migrate up --database URL", which says how to go on. '
                  'In a database for tests: CALL pgflurry.new_namespace().';
END IF;
CALL pgflurry.create_namespace(%s, %d, %d, %d, %d, '%s', '%d ms', %d, %d, NULL,
    new_disposable => %t, new_region => %s);
UPDATE pgflurry.namespace AS n SET installed_by = s.version
    FROM (SELECT %s::text) AS s (version) WHERE n.installed_by IS DISTINCT FROM s.version;
