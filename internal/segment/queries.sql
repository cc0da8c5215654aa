-- Blocks of numbers of a tag.

-- name: fetch
-- Takes a block from the row of a tag. It always answers with one row, which is NULL after its first column if the tag
-- has no row, or if the row is of another origin. A row below $3 has forgotten what it gave. Without $4 nothing is
-- taken from it: if this statement raised the row as well, and its answer were lost, the proxy would never learn that
-- the row had fallen back.
-- $1 tag, $2 numbers wanted, $3 the block must begin here or later, $4 raise a row that is below, $5 origin
WITH here AS MATERIALIZED (
    SELECT pgflurry.segment_origin() AS origin
),
old AS MATERIALIZED (
    SELECT s.biz_tag, s.max_id, s.step::bigint AS step,
           greatest(s.max_id, $3::bigint) AS first,
           least(greatest($2::bigint, s.step), 1000000) AS size
    FROM pgflurry.segment AS s, here WHERE s.biz_tag = $1::text AND here.origin = $5::text
    FOR UPDATE OF s
),
taken AS (
    UPDATE pgflurry.segment AS s
    SET max_id = old.first + old.size, update_time = clock_timestamp()
    FROM old
    WHERE s.biz_tag = old.biz_tag AND old.first <= 9223372036854775807 - old.size
        AND (old.max_id >= $3::bigint OR $4::boolean)
    RETURNING s.max_id AS until
)
SELECT here.origin, old.biz_tag, old.max_id, old.step, old.first, taken.until
FROM here LEFT JOIN old ON true LEFT JOIN taken ON true;

-- name: rows
-- The origin of the rows, and those of the tags that have one, as one JSON text.
-- $1 tags
SELECT pgflurry.segment_origin(),
    coalesce(json_agg(json_build_object('tag', s.biz_tag, 'next', s.max_id, 'step', s.step)), '[]')::text
FROM pgflurry.segment AS s WHERE s.biz_tag = ANY (ARRAY(SELECT json_array_elements_text($1::json)));
