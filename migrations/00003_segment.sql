-- +goose Up

-- Blocks of dense numbers per business tag. Proxies reserve a block and give it out from memory; next_segment() draws from the same row.

-- The functions stand in pgflurry as well as in public. Everything else here keeps its rights to itself.
GRANT USAGE ON SCHEMA pgflurry TO PUBLIC;

-- fillfactor 50: a draw stays on its page (HOT), so the index is left alone.
CREATE TABLE pgflurry.segment (
    -- collation C: two tags are one if their bytes are, in every database
    biz_tag     text COLLATE "C" NOT NULL CONSTRAINT segment_pkey PRIMARY KEY
        CONSTRAINT segment_tag_length CHECK (length(biz_tag) BETWEEN 1 AND 128),
    -- exclusive, as in Leaf, whose rows can be copied as they are: the next number to be given. What is below may exist
    max_id      bigint      NOT NULL DEFAULT 1
        CONSTRAINT segment_max_id_range CHECK (max_id >= 1),
    -- the smallest block; a proxy takes larger ones by itself while they are used up quickly
    step        integer     NOT NULL DEFAULT 2000
        CONSTRAINT segment_step_range CHECK (step BETWEEN 1 AND 1000000),
    description text        CONSTRAINT segment_description_length CHECK (length(description) <= 256),
    update_time timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 50);

COMMENT ON TABLE pgflurry.segment IS
'Counters of next_segment(): one row a business tag, added and removed by hand. A proxy notices a removed tag within a minute; wait that long before adding it anew with smaller numbers.';
COMMENT ON COLUMN pgflurry.segment.biz_tag IS 'What is numbered, such as order: 1 to 128 characters, told apart byte by byte.';
COMMENT ON COLUMN pgflurry.segment.max_id IS 'The next number to be given; those below it may have been. Can be raised by hand, never lowered.';
COMMENT ON COLUMN pgflurry.segment.step IS 'How many numbers a proxy reserves at once, at least: 1 to 1000000. About what is used in 15 to 30 minutes is best; while blocks last shorter it doubles them by itself.';
COMMENT ON COLUMN pgflurry.segment.description IS 'For people, at most 256 characters.';
COMMENT ON COLUMN pgflurry.segment.update_time IS 'When numbers were last drawn or reserved.';

-- +goose StatementBegin
CREATE FUNCTION pgflurry.guard_segment() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $fn$
BEGIN
    RAISE EXCEPTION 'the numbers of tag % may not go back: max_id % to %', quote_literal(OLD.biz_tag), OLD.max_id, NEW.max_id
        USING ERRCODE = 'restrict_violation',
              HINT = 'Numbers below max_id may exist. To begin anew delete the row, wait a minute until every proxy has noticed, and insert it again.';
END $fn$;
-- +goose StatementEnd

COMMENT ON FUNCTION pgflurry.guard_segment() IS 'Refuses, with SQLSTATE 23001, to lower the max_id of a tag.';

CREATE TRIGGER guard_segment BEFORE UPDATE ON pgflurry.segment
    FOR EACH ROW WHEN (NEW.max_id < OLD.max_id) EXECUTE FUNCTION pgflurry.guard_segment();
ALTER TABLE pgflurry.segment ENABLE ALWAYS TRIGGER guard_segment;

INSERT INTO pgflurry.segment (biz_tag, step, description) VALUES ('leaf-segment-test', 2000, 'to try next_segment()');

-- +goose Down
-- +goose StatementBegin
DO $do$
BEGIN
    IF EXISTS (SELECT FROM pgflurry.segment WHERE biz_tag <> 'leaf-segment-test') THEN
        RAISE EXCEPTION 'pgflurry.segment has % tags: removed, their numbers would begin anew',
            (SELECT count(*) FROM pgflurry.segment WHERE biz_tag <> 'leaf-segment-test')
            USING ERRCODE = 'restrict_violation',
                  HINT = 'Delete the rows first, when no number of theirs is needed any more.';
    END IF;
END $do$;
-- +goose StatementEnd
DROP TABLE pgflurry.segment;
DROP FUNCTION pgflurry.guard_segment();
REVOKE USAGE ON SCHEMA pgflurry FROM PUBLIC;
