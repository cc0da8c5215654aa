-- oid typarray
select b.oid, b.typarray from pg_catalog.pg_type a left join pg_catalog.pg_type b on b.oid = a.typelem where
a.typcategory = 'A' group by b.oid, b.typarray order by b.oid;
-- relname
SELECT RELNAME FROM PG_CLASS WHERE OID=0;
-- oid typbasetype
select oid, typbasetype from pg_type where typname = 'lo';
-- oid typarray
SELECT t.oid, typarray FROM pg_type t JOIN pg_namespace ns ON typnamespace = ns.oid WHERE typname = 'hstore';
-- typname typtype oid typarray rngtypname rngtypid rngtyparray
WITH ranges AS ( SELECT pg_range.rngtypid, pg_type.typname AS rngtypname, pg_type.typarray AS rngtyparray,
pg_range.rngsubtype FROM pg_range LEFT OUTER JOIN pg_type ON pg_type.oid = pg_range.rngtypid)SELECT
pg_type.typname, pg_type.typtype, pg_type.oid, pg_type.typarray, ranges.rngtypname, ranges.rngtypid,
ranges.rngtyparray FROM pg_type LEFT OUTER JOIN ranges ON pg_type.oid = ranges.rngsubtype WHERE
(pg_type.typtype IN('b', 'e'));
-- oid typarray typname
SELECT oid, typarray, typname FROM pg_type WHERE typname = ANY($1::text[]);
-- oid typname
select oid,typname from pg_type;
-- oid typname
SELECT t.oid, t.typname FROM pg_type as t WHERE t.typname IN ('int2', 'int4', 'int8', 'oid', 'float4',
'float8', 'numeric', 'bool', 'timestamp', 'timestamptz');
-- oid typname typelem typdelim typinput rngsubtype typtype typbasetype
SELECT t.oid, t.typname, t.typelem, t.typdelim, t.typinput, r.rngsubtype, t.typtype, t.typbasetype FROM
pg_type as t LEFT JOIN pg_range as r ON oid = rngtypid WHERE t.typname IN ('int2', 'int4', 'int8', 'oid',
'float4', 'float8', 'text', 'varchar', 'char', 'name', 'bpchar', 'bool', 'bit', 'varbit', 'timestamptz',
'date', 'money', 'bytea', 'point', 'hstore', 'json', 'jsonb', 'cidr', 'inet', 'uuid', 'xml', 'tsvector',
'macaddr', 'citext', 'ltree', 'line', 'lseg', 'box', 'path', 'polygon', 'circle', 'time', 'timestamp',
'numeric', 'interval') OR t.typtype IN ('r', 'e', 'd') OR t.typinput =
'array_in(cstring,oid,integer)'::regprocedure OR t.typelem != 0;
-- oid typname typelem typdelim typinput rngsubtype typtype typbasetype
SELECT t.oid, t.typname, t.typelem, t.typdelim, t.typinput, r.rngsubtype, t.typtype, t.typbasetype FROM
pg_type as t LEFT JOIN pg_range as r ON oid = rngtypid WHERE t.oid IN (20);
