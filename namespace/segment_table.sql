-- Which database and table the rows of the tags are in, only for comparison (empty: a standby makes no statement).
-- Whether this role may reserve blocks in that table, and its name.
SELECT coalesce(pgflurry.segment_origin(), ''),
       coalesce(pg_catalog.has_table_privilege(t.oid, 'SELECT')
                AND pg_catalog.has_column_privilege(t.oid, 'max_id', 'UPDATE')
                AND pg_catalog.has_column_privilege(t.oid, 'update_time', 'UPDATE'), false),
       current_user::pg_catalog.text
FROM (SELECT pg_catalog.to_regclass('pgflurry.segment') AS oid) AS t
