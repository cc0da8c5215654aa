-- +goose Up

-- What next_snowflake() of this database remembers across a crash. Its third sequence, the unlogged
-- pgflurry.lane, begins at a value that depends on the layout: pgflurry.install_next_snowflake() makes it.

CREATE SEQUENCE pgflurry.mark AS bigint MINVALUE 0 START 0 CACHE 1 NO CYCLE;
COMMENT ON SEQUENCE pgflurry.mark IS
'Tick, exclusive: no ID of this database''s function at or after it may exist. Logged before any ID that it covers. Never lower it.';

CREATE SEQUENCE pgflurry.function_timeline AS bigint MINVALUE 0 START 0 CACHE 1 NO CYCLE;
COMMENT ON SEQUENCE pgflurry.function_timeline IS
'WAL timeline, as a number, on which the function last started; 0: none. Another one than the server''s means that marks may have been lost.';

-- Locked by the function while it starts a new tick. A table, because any role may take an advisory lock,
-- but only the owner may lock this. Never holds a row, so there is nothing to vacuum.
CREATE TABLE pgflurry.function_lock (
    nothing boolean CONSTRAINT function_lock_stays_empty CHECK (false) NO INHERIT
) WITH (autovacuum_enabled = false);
COMMENT ON TABLE pgflurry.function_lock IS
'Locked by next_snowflake() while it starts a new tick; holds no rows.';
COMMENT ON COLUMN pgflurry.function_lock.nothing IS 'Never used.';

-- +goose Down
DROP TABLE pgflurry.function_lock;
DROP SEQUENCE pgflurry.function_timeline;
DROP SEQUENCE pgflurry.mark;
