-- The guards hold again, by the clock of the stage, but not while the test loads a state.
DO $do$
DECLARE
    guard text;
BEGIN
    FOR guard IN SELECT pg_get_functiondef(f) FROM unnest('{pgflurry.guard_namespace(),pgflurry.guard_worker()}'::
            regprocedure[]) f LOOP
        guard := replace(guard, 'clock_timestamp()', 'stage.clock()');
        guard := replace(guard, 'statement_timestamp()', 'stage.clock()');
        EXECUTE regexp_replace(guard, '\nBEGIN\n', E'\nBEGIN\n'
            'IF current_setting(''stage.loading'', true) = ''on'' THEN RETURN NEW; END IF;\n');
    END LOOP;
END $do$;
ALTER TABLE pgflurry.namespace ENABLE ALWAYS TRIGGER guard_namespace;
ALTER TABLE pgflurry.worker ENABLE ALWAYS TRIGGER guard_worker;
GRANT USAGE ON SCHEMA stage TO PUBLIC;
GRANT SELECT ON stage.server TO PUBLIC;
