-- +goose Up

-- What a step of the server's clock did to next_snowflake(). Sequences, because a count must survive the rollback of the call that
-- failed. Read them with pgflurry.snowflake_clock().

CREATE SEQUENCE pgflurry.clock_waits AS bigint CACHE 1 CYCLE;
COMMENT ON SEQUENCE pgflurry.clock_waits IS
'How many calls of next_snowflake() have waited because the IDs were as far ahead of the clock as they may be: it was set back, or more IDs are asked for than the layout holds.';

CREATE SEQUENCE pgflurry.clock_refusals AS bigint CACHE 1 CYCLE;
COMMENT ON SEQUENCE pgflurry.clock_refusals IS
'How many calls of next_snowflake() have failed because the clock was set back too far to wait for (SNF01).';

-- +goose Down
DROP SEQUENCE pgflurry.clock_waits, pgflurry.clock_refusals;
