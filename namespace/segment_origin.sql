-- Which database and table the rows of the tags are in, only for comparison. Empty: a standby makes no statement.
SELECT coalesce(pgflurry.segment_origin(), '')
