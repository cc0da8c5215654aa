-- Lists by name all that a benchmark could leave behind in PostgreSQL. The test compares the lists before and after a
-- run. OIDs from 16384 on belong to objects that somebody created.
SELECT 'PostgreSQL: ' || name FROM (
    SELECT oid::regclass::text FROM pg_class WHERE relpersistence <> 't' AND oid >= 16384
    UNION ALL SELECT oid::regprocedure::text FROM pg_proc WHERE oid >= 16384
    UNION ALL SELECT oid::regtype::text FROM pg_type WHERE oid >= 16384
    UNION ALL SELECT oid::regnamespace::text FROM pg_namespace WHERE oid >= 16384
    UNION ALL SELECT extname FROM pg_extension UNION ALL SELECT rolname FROM pg_roles) AS of (name);
