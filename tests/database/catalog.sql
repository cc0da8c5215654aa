-- Everything that up makes, one object a line, without what differs between databases.
SELECT format('%s %s %s %s', c.relkind, c.relname, c.relpersistence, c.reloptions)
	|| coalesce(obj_description(c.oid, 'pg_class'), '')
	FROM pg_class c WHERE c.relnamespace = 'pgflurry'::regnamespace
UNION ALL
SELECT format('%s.%s %s %s %s %s %s', a.attrelid::regclass, a.attname, a.attnum,
		format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity, pg_get_expr(d.adbin, d.adrelid))
	|| coalesce(col_description(a.attrelid, a.attnum), '')
	FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
	WHERE a.attrelid IN (SELECT oid FROM pg_class WHERE relnamespace = 'pgflurry'::regnamespace AND relkind = 'r')
		AND a.attnum > 0
UNION ALL
SELECT format('%s %s %s', conrelid::regclass, conname, pg_get_constraintdef(oid))
	FROM pg_constraint WHERE connamespace = 'pgflurry'::regnamespace
UNION ALL
SELECT pg_get_triggerdef(t.oid) || t.tgenabled::text
	FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid WHERE c.relnamespace = 'pgflurry'::regnamespace
UNION ALL
SELECT regexp_replace(pg_get_functiondef(p.oid), '''[0-9a-f-]{36}''::pg_catalog.uuid', 'space', 'g')
	|| coalesce(p.proacl::text, '')
	|| coalesce(obj_description(p.oid, 'pg_proc'), '')
	FROM pg_proc p WHERE p.pronamespace IN ('pgflurry'::regnamespace, 'public'::regnamespace)
UNION ALL
SELECT format('%s %s', seqrelid::regclass,
		(seqtypid, seqstart, seqincrement, seqmax, seqmin, seqcache, seqcycle))
	FROM pg_sequence
UNION ALL
SELECT 'migration ' || number FROM pgflurry.migration
UNION ALL
SELECT format('%s', (w.worker, w.kind, w.owner IS NULL, w.term, w.reserved_until, w.retired_at,
		w.node = current_database()))
	FROM pgflurry.worker w
UNION ALL
SELECT format('%s', (n.epoch, n.unit, n.timestamp_bits, n.datacenter_bits, n.worker_bits, n.sequence_bits, n.region,
		n.database_workers, n.function_worker, n.function_workers, n.foreign_workers,
		n.max_window, n.skew, n.quarantine, n.timeline, n.acquire_after,
		n.system_identifier, n.home, n.database_name = current_database()))
	FROM pgflurry.namespace n
UNION ALL
SELECT format('mark %s %s', m.last_value, t.last_value) FROM pgflurry.mark m, pgflurry.function_timeline t
UNION ALL
SELECT 'schema ' || obj_description('pgflurry'::regnamespace, 'pg_namespace') || coalesce(nspacl::text, '')
	FROM pg_namespace WHERE nspname = 'pgflurry'
ORDER BY 1
