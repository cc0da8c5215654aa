-- +goose Up

-- What the stand-in of next_snowflake() remembers: the second lane, which draws while a session holds the first one's lock and does not
-- go on. The same three things as in 00002; its lane is made by pgflurry.install_next_snowflake(), too.

CREATE SEQUENCE pgflurry.mark_stand_in AS bigint MINVALUE 0 START 0 CACHE 1 NO CYCLE;
COMMENT ON SEQUENCE pgflurry.mark_stand_in IS
'Tick, exclusive: no ID of the stand-in at or after it may exist. As pgflurry.mark.';

CREATE SEQUENCE pgflurry.function_timeline_stand_in AS bigint MINVALUE 0 START 0 CACHE 1 NO CYCLE;
COMMENT ON SEQUENCE pgflurry.function_timeline_stand_in IS
'WAL timeline on which the stand-in last started. As pgflurry.function_timeline.';

CREATE TABLE pgflurry.function_lock_stand_in (
    nothing boolean CONSTRAINT function_lock_stand_in_stays_empty CHECK (false) NO INHERIT
) WITH (autovacuum_enabled = false);
COMMENT ON TABLE pgflurry.function_lock_stand_in IS
'Locked by the stand-in of next_snowflake() while it starts a new tick; holds no rows.';
COMMENT ON COLUMN pgflurry.function_lock_stand_in.nothing IS 'Never used.';

-- +goose Down
DROP TABLE pgflurry.function_lock_stand_in;
DROP SEQUENCE pgflurry.function_timeline_stand_in;
DROP SEQUENCE pgflurry.mark_stand_in;
