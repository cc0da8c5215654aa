-- All properties of a schema's tables and views, and their content, one a line. Columns are in order of their names.
SELECT concat_ws(' ', c.relname, a.attname, a.atttypid::regtype, a.attnotnull, a.attidentity,
        pg_get_expr(d.adbin, d.adrelid), col_description(c.oid, a.attnum), a.attacl) AS line
    FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    LEFT JOIN pg_attrdef AS d ON d.adrelid = c.oid AND d.adnum = a.attnum
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'v')
UNION ALL SELECT concat_ws(' ', conrelid::regclass, conname, pg_get_constraintdef(oid), convalidated)
    -- without NOT NULL, which is above: from PostgreSQL 18 on it is a constraint with its own name
    FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND contype <> 'n'
UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'
UNION ALL SELECT concat_ws(' ', c.relname, pg_get_viewdef(c.oid), c.reloptions, c.relacl, obj_description(c.oid))
    FROM pg_class AS c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'v'
UNION ALL SELECT concat_ws(' ', s.seqrelid::regclass, s.seqincrement, s.seqstart, pg_sequence_last_value(s.seqrelid),
        pg_get_serial_sequence('always', 'id'), obj_description(s.seqrelid))
    FROM pg_sequence AS s JOIN pg_class AS c ON c.oid = s.seqrelid AND c.relnamespace = 'public'::regnamespace
UNION ALL SELECT concat_ws(' ', tgrelid::regclass, tgname) FROM pg_trigger WHERE NOT tgisinternal
    AND tgrelid IN (SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace)
UNION ALL SELECT concat_ws(' ', 'root', id, name, parent_id) FROM root
UNION ALL SELECT concat_ws(' ', 'sub', id, "A text") FROM sub
UNION ALL SELECT concat_ws(' ', 'leaf', sub_id, n, wide_id) FROM leaf
UNION ALL SELECT concat_ws(' ', 'always', id, n) FROM always
UNION ALL SELECT concat_ws(' ', 'By Default', "The ID", n) FROM "By Default"
UNION ALL SELECT concat_ws(' ', 'counted', n, last) FROM counted
ORDER BY 1
