-- next_segment(tag), next_segments(tag, n): the next numbers of a business tag, from its row in pgflurry.segment.
--
-- A draw is an UPDATE of that row in the caller's transaction. So numbers that were rolled back are drawn again, and
-- the row stays locked until the transaction ends: transactions that draw from one tag run one after the other. A proxy
-- reserves and commits a block in the same row, and answers both functions from it. Then nothing is locked, and nothing
-- is rolled back.
--
-- Both are SECURITY DEFINER: callers need EXECUTE and no right on the table. Their own text names everything with its
-- schema, because the search_path belongs to the caller. take_segment has a fixed search_path.

CREATE OR REPLACE FUNCTION pgflurry.take_segment(caller text, tag text, n bigint) RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $fn$
DECLARE
    first bigint;
BEGIN
    IF n IS NULL OR n < 1 OR n > 10000 THEN
        RAISE EXCEPTION '%: n is %, not 1 to 10000', caller, coalesce(n::text, 'null')
            USING ERRCODE = '22023', HINT = 'For more numbers call it again.';
    END IF;
    IF tag IS NULL OR length(tag) NOT BETWEEN 1 AND 128 THEN
        RAISE EXCEPTION '%: the tag %, not 1 to 128', caller,
            CASE WHEN tag IS NULL THEN 'is null' ELSE format('has %s characters', length(tag)) END
            USING ERRCODE = '22023', HINT = 'The tags are in pgflurry.segment.biz_tag.';
    END IF;
    UPDATE pgflurry.segment AS s SET max_id = s.max_id + n, update_time = clock_timestamp()
        WHERE s.biz_tag = tag AND s.max_id <= 9223372036854775807 - n
        RETURNING s.max_id - n INTO first;
    IF FOUND THEN
        RETURN first;
    END IF;
    IF EXISTS (SELECT FROM pgflurry.segment AS s WHERE s.biz_tag = tag) THEN
        RAISE EXCEPTION '%: tag % has come to the end of bigint', caller, quote_literal(tag)
            USING ERRCODE = '2200H', HINT = 'There is no larger number. Use another tag.';
    END IF;
    RAISE EXCEPTION '%: there is no tag %', caller, quote_literal(tag)
        USING ERRCODE = '42704',
              HINT = format('Who owns schema pgflurry adds it: '
                  'INSERT INTO pgflurry.segment (biz_tag) VALUES (%L);', tag);
END $fn$;

COMMENT ON FUNCTION pgflurry.take_segment(text, text, bigint) IS
'Part of next_segment() and next_segments(): takes n numbers, returns the first. '
'caller is the function to name in errors.';
REVOKE ALL ON FUNCTION pgflurry.take_segment(text, text, bigint) FROM PUBLIC;

-- A table that is emptied by TRUNCATE, rewritten, or made anew has another file. If the row of a tag goes back without
-- that, nothing tells (docs/segments.md).
CREATE OR REPLACE FUNCTION pgflurry.segment_origin() RETURNS text
LANGUAGE sql STABLE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $fn$
    SELECT format('%s/%s/%s', p.here, t.made::oid, pg_relation_filenode(t.made))
    FROM pgflurry.place() AS p (here), to_regclass('pgflurry.segment') AS t (made)
    WHERE p.here IS NOT NULL
$fn$;
COMMENT ON FUNCTION pgflurry.segment_origin() IS
'Which database this is (pgflurry.place()), and which table pgflurry.segment is in it: only for comparison. '
'A proxy drops the numbers that it has reserved when it differs. NULL on a standby: no statement.';

CREATE OR REPLACE FUNCTION pgflurry.next_segment(tag text) RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER AS $fn$
BEGIN
    RETURN pgflurry.take_segment('next_segment', tag, 1::bigint);
END $fn$;

CREATE OR REPLACE FUNCTION pgflurry.next_segments(tag text, n bigint) RETURNS SETOF bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE ROWS 1000 SECURITY DEFINER AS $fn$
DECLARE
    first bigint := pgflurry.take_segment('next_segments', tag, n);
BEGIN
    RETURN QUERY SELECT pg_catalog.generate_series(
        first, first OPERATOR(pg_catalog.+) (n OPERATOR(pg_catalog.-) 1::bigint));
END $fn$;

COMMENT ON FUNCTION pgflurry.next_segment(text) IS
'The next number of a business tag, a row of pgflurry.segment that exists. '
'Dense, except for numbers that proxies have reserved. In the caller''s transaction: '
'a rolled-back draw may come again, and the tag is locked until the end of the transaction. '
'Errors: 42704 no such tag, 22023 NULL or not 1 to 128 characters, 2200H no larger bigint, '
'25006 read-only transaction, 40001 in REPEATABLE READ.';
COMMENT ON FUNCTION pgflurry.next_segments(text, bigint) IS
'n numbers of a business tag in increasing order, 1 to 10000; '
'taken at once, as n times next_segment() would take them. '
'Errors: 22023 for another n or NULL, and those of next_segment().';
