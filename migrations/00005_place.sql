-- Which server a database is on, which life of that server, and whether it was closed for good (namespace/doc.go).

-- A dump holds the tables for as long as it takes, and renewals would wait behind this.
SET LOCAL lock_timeout = '2s';

-- The rule of the windows holds in whole ticks, too: each of the three lengths is rounded up. A quarantine that is too
-- short by that grows.
DO $do$
BEGIN
    UPDATE pgflurry.namespace
        SET quarantine = unit * (ceil(extract(epoch FROM max_window) / extract(epoch FROM unit))
                                 + 2 * ceil(extract(epoch FROM skew) / extract(epoch FROM unit)))::double precision
        WHERE ceil(extract(epoch FROM quarantine) / extract(epoch FROM unit))
            < ceil(extract(epoch FROM max_window) / extract(epoch FROM unit))
              + 2 * ceil(extract(epoch FROM skew) / extract(epoch FROM unit));
END $do$;

ALTER TABLE pgflurry.namespace
    ADD COLUMN generation         bigint NOT NULL DEFAULT 1
        CONSTRAINT namespace_generation_range CHECK (generation > 0),
    ADD COLUMN closed_at          timestamptz,
    ADD COLUMN born               timestamptz,
    ADD COLUMN restart_quarantine interval
        CONSTRAINT namespace_restart_quarantine_range CHECK (restart_quarantine BETWEEN '0' AND '366 days'),
    ADD COLUMN gate_by            text,
    ADD CONSTRAINT namespace_quarantine_outlives_a_window_in_ticks CHECK (
        ceil(extract(epoch FROM quarantine) / extract(epoch FROM unit))
            >= ceil(extract(epoch FROM max_window) / extract(epoch FROM unit))
               + 2 * ceil(extract(epoch FROM skew) / extract(epoch FROM unit)));

COMMENT ON COLUMN pgflurry.namespace.generation IS
'Rises when an operator says what this database is (--moved, --new-namespace, reseed, close, open). '
'A restore in place changes nothing else for sure.';
COMMENT ON COLUMN pgflurry.namespace.closed_at IS
'When "pgflurry close" closed the database; NULL: it is not closed. '
'A copy that has it was made after that: its original gives no IDs any more.';
COMMENT ON COLUMN pgflurry.namespace.born IS
'Start of the server that wrote the row: in this life of it nothing can be forgotten. NULL: not known.';
COMMENT ON COLUMN pgflurry.namespace.restart_quarantine IS
'How long no worker is granted after a start of the server, which may have forgotten grants. '
'NULL: max_window + 2 * skew. 0 says that a restart of this server never forgets anything.';
COMMENT ON COLUMN pgflurry.namespace.gate_by IS 'Who closed the gate last, and when, for people.';
COMMENT ON COLUMN pgflurry.namespace.joins_complete_on IS
'Life of the server (pgflurry.server_life()) in which every database that has joined is known to stand in '
'pgflurry.worker. Another one, or NULL: a failover, a restart or a restore may have forgotten one, '
'and no database that is not known gets a worker.';

-- Rows that are there already: as complete as they were, in this life of the server.
DO $do$
BEGIN
    UPDATE pgflurry.namespace SET joins_complete_on =
        coalesce(substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8), '')
            || '@' || extract(epoch FROM pg_postmaster_start_time())
        WHERE joins_complete_on = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8);
EXCEPTION WHEN undefined_function OR insufficient_privilege OR feature_not_supported THEN
    NULL;  -- a server that does not show its timeline: the operator says it anew
END $do$;

-- A sequence, because a draw must see it whatever its snapshot is, and because its setting survives a crash.
CREATE SEQUENCE pgflurry.closed AS bigint MINVALUE 0 START 0 CACHE 1 NO CYCLE;
COMMENT ON SEQUENCE pgflurry.closed IS
'0: the database is open. Otherwise "pgflurry close" has closed it for good, at this generation of its namespace row.';

-- The locks of next_snowflake() become views. A view can be locked by name, and has nothing to maintain: ANALYZE in a
-- long transaction held the locks of the tables, and stopped all draws. The exclusive lock waits for every draw that
-- is starting a tick, and no draw sees a moment without a lock.
LOCK TABLE pgflurry.function_lock, pgflurry.function_lock_stand_in IN ACCESS EXCLUSIVE MODE;
DROP TABLE pgflurry.function_lock, pgflurry.function_lock_stand_in;
CREATE VIEW pgflurry.function_lock AS SELECT 1 AS x;
CREATE VIEW pgflurry.function_lock_stand_in AS SELECT 1 AS x;
REVOKE ALL ON pgflurry.function_lock, pgflurry.function_lock_stand_in FROM PUBLIC;
COMMENT ON VIEW pgflurry.function_lock IS
'Locked by next_snowflake() while it starts a new tick. A view, so nothing that maintains tables locks it.';
COMMENT ON COLUMN pgflurry.function_lock.x IS 'Never used.';
COMMENT ON VIEW pgflurry.function_lock_stand_in IS
'Locked by the stand-in of next_snowflake() while it starts a new tick. A view, as pgflurry.function_lock.';
COMMENT ON COLUMN pgflurry.function_lock_stand_in.x IS 'Never used.';


-- Down

DROP VIEW pgflurry.function_lock, pgflurry.function_lock_stand_in;
CREATE TABLE pgflurry.function_lock (nothing boolean) WITH (autovacuum_enabled = false);
CREATE TABLE pgflurry.function_lock_stand_in (nothing boolean) WITH (autovacuum_enabled = false);
-- "migrate up" made these triggers, with the functions of package sqlfuncs.
DROP TRIGGER IF EXISTS guard_closed ON pgflurry.segment;
DROP TRIGGER IF EXISTS guard_closed ON pgflurry.auto_increment;
DROP TRIGGER IF EXISTS guard_closed ON pgflurry.replace_sequence;
DROP TRIGGER IF EXISTS guard_closed ON pgflurry.counter;
DROP TRIGGER IF EXISTS guard_closed ON pgflurry.token;
DROP TRIGGER IF EXISTS guard_closed ON pgflurry.lock;
DROP FUNCTION IF EXISTS pgflurry.guard_closed();
DROP SEQUENCE pgflurry.closed;
ALTER TABLE pgflurry.namespace
    DROP CONSTRAINT namespace_quarantine_outlives_a_window_in_ticks,
    DROP COLUMN gate_by, DROP COLUMN restart_quarantine, DROP COLUMN born, DROP COLUMN closed_at,
    DROP COLUMN generation;
