-- The origin of the rows, and those of the tags that have one, as one JSON text.
-- $1 tags
SELECT pgflurry.segment_origin(),
    coalesce(json_agg(json_build_object('tag', s.biz_tag, 'next', s.max_id, 'step', s.step)), '[]')::text
FROM pgflurry.segment AS s WHERE s.biz_tag = ANY (ARRAY(SELECT json_array_elements_text($1::json)));
