-- The statements call stage.clock() instead of clock_timestamp(), and stage.started() instead of
-- pg_postmaster_start_time(). The functions of schema pgflurry that ask the server read a table instead, and the one
-- that reads the clock reads that of the stage.
CREATE SCHEMA stage;
CREATE TABLE stage.server (now bigint, started bigint, timeline text, system bigint);
INSERT INTO stage.server VALUES (0, 0, NULL, NULL);
CREATE FUNCTION stage.clock() RETURNS timestamptz LANGUAGE sql STABLE AS
    'SELECT n.epoch + s.now * n.unit FROM stage.server s, pgflurry.namespace n';
CREATE FUNCTION stage.started() RETURNS timestamptz LANGUAGE sql STABLE AS
    'SELECT n.epoch + s.started * n.unit FROM stage.server s, pgflurry.namespace n';
CREATE OR REPLACE FUNCTION pgflurry.wal_timeline() RETURNS text LANGUAGE sql STABLE AS
    'SELECT timeline FROM stage.server';
CREATE OR REPLACE FUNCTION pgflurry.system_identifier() RETURNS bigint LANGUAGE sql STABLE AS
    'SELECT system FROM stage.server';
DO $$ BEGIN
    EXECUTE replace(pg_get_functiondef('pgflurry.next_generation(bigint)'::regprocedure),
                    'clock_timestamp()', 'stage.clock()');
END $$;
ALTER TABLE pgflurry.worker DISABLE TRIGGER USER;
ALTER TABLE pgflurry.namespace DISABLE TRIGGER USER;
