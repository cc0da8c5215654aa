-- Reads which other databases of this server run "migrate up --moved" for the same ID space now. Columns: name of one
-- with a lower OID than this database (empty: none), and how many have a higher one.
SELECT coalesce(min(d.datname::text) FILTER (WHERE d.oid < here.oid), ''), count(*) FILTER (WHERE d.oid > here.oid)
FROM pg_locks AS l JOIN pg_database AS d ON d.oid = l.database, pg_database AS here, pgflurry.namespace AS n
WHERE here.datname = current_database() AND d.oid <> here.oid AND l.locktype = 'advisory' AND l.granted
  AND ((l.classid::bigint << 32) | l.objid::bigint) = hashtextextended('pgflurry moved ' || n.id, 0)
