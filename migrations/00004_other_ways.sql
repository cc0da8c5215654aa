-- +goose Up

-- What the other ways to make an ID remember. Only their functions write here (SECURITY DEFINER); a user needs EXECUTE and has no
-- right on any of these tables. Texts are compared byte by byte (collation C), in every database.
-- fillfactor 50: a row that is written again and again stays on its page (HOT), so the index is left alone.

CREATE TABLE pgflurry.auto_increment (
    name      text COLLATE "C" NOT NULL CONSTRAINT auto_increment_pkey PRIMARY KEY
        CONSTRAINT auto_increment_name_length CHECK (length(name) BETWEEN 1 AND 255),
    increment integer NOT NULL DEFAULT 1
        CONSTRAINT auto_increment_increment_is_1_to_65535 CHECK (increment BETWEEN 1 AND 65535),
    "offset"  integer NOT NULL DEFAULT 1
        CONSTRAINT auto_increment_offset_is_1_to_65535 CHECK ("offset" BETWEEN 1 AND 65535),
    last      bigint  NOT NULL DEFAULT 0
        CONSTRAINT auto_increment_last_is_not_negative CHECK (last >= 0)
) WITH (fillfactor = 50);

COMMENT ON TABLE pgflurry.auto_increment IS
'Counters of next_auto_increment(), as auto_increment_increment and auto_increment_offset of MySQL: one row a name, added by hand. Several servers share one series of numbers if each has the same increment, not below their number, and an offset of its own, from 1 to increment.';
COMMENT ON COLUMN pgflurry.auto_increment.name IS 'What is numbered: 1 to 255 characters.';
COMMENT ON COLUMN pgflurry.auto_increment.increment IS 'Distance of two numbers, 1 to 65535: at least the number of servers.';
COMMENT ON COLUMN pgflurry.auto_increment."offset" IS 'First number, 1 to 65535: of this server alone.';
COMMENT ON COLUMN pgflurry.auto_increment.last IS 'The last number given, 0: none. Can be raised by hand, never lowered.';

-- +goose StatementBegin
CREATE FUNCTION pgflurry.guard_auto_increment() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $fn$
BEGIN
    RAISE EXCEPTION 'the numbers of % may not go back: last % to %', quote_literal(OLD.name), OLD.last, NEW.last
        USING ERRCODE = 'restrict_violation',
              HINT = 'Numbers up to the last one may exist. To begin anew delete the row and insert it again.';
END $fn$;
-- +goose StatementEnd
COMMENT ON FUNCTION pgflurry.guard_auto_increment() IS 'Refuses, with SQLSTATE 23001, to lower the last number of a name.';
CREATE TRIGGER guard_auto_increment BEFORE UPDATE ON pgflurry.auto_increment
    FOR EACH ROW WHEN (NEW.last < OLD.last) EXECUTE FUNCTION pgflurry.guard_auto_increment();
ALTER TABLE pgflurry.auto_increment ENABLE ALWAYS TRIGGER guard_auto_increment;

-- Each draw deletes one row and inserts one: as many dead rows as draws. A fixed threshold keeps the table small at any rate.
CREATE TABLE pgflurry.replace_sequence (
    seq_id   bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT replace_sequence_pkey PRIMARY KEY,
    seq_name text COLLATE "C" NOT NULL CONSTRAINT replace_sequence_name_key UNIQUE
        CONSTRAINT replace_sequence_name_length CHECK (length(seq_name) BETWEEN 1 AND 255)
) WITH (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0);

COMMENT ON TABLE pgflurry.replace_sequence IS
'Tickets of next_replace_id(): one row a name, deleted and inserted anew by each draw, as REPLACE INTO of MySQL does.';
COMMENT ON COLUMN pgflurry.replace_sequence.seq_id IS 'The last number of the name. All names draw from one sequence, so no number comes twice.';
COMMENT ON COLUMN pgflurry.replace_sequence.seq_name IS 'Who draws: 1 to 255 characters. Unique, or two draws at once would leave two rows.';
COMMENT ON SEQUENCE pgflurry.replace_sequence_seq_id_seq IS 'Numbers of next_replace_id(), of all names together.';

CREATE TABLE pgflurry.counter (
    key   text COLLATE "C" NOT NULL CONSTRAINT counter_pkey PRIMARY KEY
        CONSTRAINT counter_key_length CHECK (length(key) BETWEEN 1 AND 255),
    value bigint NOT NULL
) WITH (fillfactor = 50);

COMMENT ON TABLE pgflurry.counter IS 'Counters of incr() and incrby(): one row a key, made by its first use.';
COMMENT ON COLUMN pgflurry.counter.key IS 'What is counted: 1 to 255 characters.';
COMMENT ON COLUMN pgflurry.counter.value IS 'Its value, any bigint.';

CREATE TABLE pgflurry.token (
    token      bigint      NOT NULL CONSTRAINT token_pkey PRIMARY KEY,
    expires_at timestamptz NOT NULL
);
CREATE INDEX token_expires_at ON pgflurry.token (expires_at);

COMMENT ON TABLE pgflurry.token IS 'Tokens of issue_token() that were not redeemed; clean_tokens() removes those that have expired.';
COMMENT ON COLUMN pgflurry.token.token IS 'An ID of next_snowflake().';
COMMENT ON COLUMN pgflurry.token.expires_at IS 'From this instant on, by the server''s clock, it cannot be redeemed.';

CREATE TABLE pgflurry.lock (
    name       text COLLATE "C" NOT NULL CONSTRAINT lock_pkey PRIMARY KEY
        CONSTRAINT lock_name_length CHECK (length(name) BETWEEN 1 AND 255),
    owner      text COLLATE "C"
        CONSTRAINT lock_owner_length CHECK (length(owner) BETWEEN 1 AND 255),
    fencing    bigint,
    expires_at timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 50);

COMMENT ON TABLE pgflurry.lock IS 'Locks of try_lock(); clean_locks() removes the rows of those that have been free for a minute.';
COMMENT ON COLUMN pgflurry.lock.name IS 'What is locked: 1 to 255 characters.';
COMMENT ON COLUMN pgflurry.lock.owner IS 'Who took it, as he calls himself: 1 to 255 characters. NULL: it was unlocked.';
COMMENT ON COLUMN pgflurry.lock.fencing IS 'Fencing token of the last taking, an ID of next_snowflake(); NULL: never taken.';
COMMENT ON COLUMN pgflurry.lock.expires_at IS 'From this instant on, by the server''s clock, it is free whoever took it.';

-- +goose Down
-- +goose StatementBegin
DO $do$
DECLARE
    used text;
BEGIN
    SELECT string_agg(format('%s (%s)', name, rows), ', ') INTO used FROM (
        SELECT 'auto_increment' AS name, count(*) AS rows FROM pgflurry.auto_increment
        UNION ALL SELECT 'replace_sequence', count(*) FROM pgflurry.replace_sequence
        UNION ALL SELECT 'counter', count(*) FROM pgflurry.counter
        UNION ALL SELECT 'token', count(*) FROM pgflurry.token WHERE expires_at > clock_timestamp()
        UNION ALL SELECT 'lock', count(*) FROM pgflurry.lock WHERE owner IS NOT NULL AND expires_at > clock_timestamp()) AS t
    WHERE rows > 0;
    IF used IS NOT NULL THEN
        RAISE EXCEPTION 'tables of schema pgflurry hold rows that are in use: %', used
            USING ERRCODE = 'restrict_violation',
                  HINT = 'Removed, their numbers would begin anew, and tokens and locks would be forgotten. Delete the rows first, when none is needed any more.';
    END IF;
END $do$;
-- +goose StatementEnd
DROP TABLE pgflurry.lock, pgflurry.token, pgflurry.counter, pgflurry.replace_sequence, pgflurry.auto_increment;
DROP FUNCTION pgflurry.guard_auto_increment();
