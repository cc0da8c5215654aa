-- The row was written in another database: from now on it belongs to this one. The lane goes back to its START, so that
-- the function goes on at its mark, because a dump reads the two at different moments; and without a known timeline it
-- starts as after a promotion.
UPDATE pgflurry.namespace AS n
SET system_identifier = pgflurry.system_identifier(), database_oid = d.oid, namespace_oid = n.tableoid, database_name = d.datname,
    timeline = pgflurry.wal_timeline()
FROM pg_database AS d WHERE d.datname = current_database();
SELECT setval(seqrelid, seqstart) FROM pg_sequence WHERE seqrelid = to_regclass('pgflurry.lane');
SELECT setval('pgflurry.function_timeline'::regclass, 0, false);
