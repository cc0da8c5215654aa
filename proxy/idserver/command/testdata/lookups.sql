-- postgres.js: types of arrays
select b.oid, b.typarray
from pg_catalog.pg_type a
left join pg_catalog.pg_type b on b.oid = a.typelem
where a.typcategory = 'A'
group by b.oid, b.typarray
order by b.oid;
-- psqlODBC: the type lo
select oid, typbasetype from pg_type where typname = 'lo';
-- PDO: the table of a column, even if that has none
SELECT RELNAME FROM PG_CLASS WHERE OID=0;
-- SQLAlchemy through psycopg 2: the type hstore
SELECT t.oid, typarray
FROM pg_type t JOIN pg_namespace ns
    ON typnamespace = ns.oid
WHERE typname = 'hstore';
-- Slonik
SELECT oid, typarray, typname
FROM pg_type
WHERE typname = ANY($1::text[]);
-- ruby-pg: the type map
SELECT t.oid, t.typname, t.typelem, t.typdelim, ti.proname AS typinput
FROM pg_type as t JOIN pg_proc as ti ON ti.oid = t.typinput;
-- ActiveRecord: the type map
SELECT t.oid, t.typname, t.typelem, t.typdelim, t.typinput, r.rngsubtype, t.typtype, t.typbasetype
FROM pg_type as t LEFT JOIN pg_range as r ON oid = rngtypid
WHERE t.typname IN ('int2', 'int4', 'int8');
-- asyncpg: a codec of a type
SELECT
    t.oid,
    t.typelem     AS elemtype,
    t.typtype     AS kind
FROM
    pg_catalog.pg_type AS t
    INNER JOIN pg_catalog.pg_namespace ns ON (ns.oid = t.typnamespace)
WHERE
    t.typname = $1 AND ns.nspname = $2;
-- Sequelize: the types and their ranges
WITH ranges AS (SELECT pg_range.rngtypid, pg_type.typname AS rngtypname, pg_type.typarray AS rngtyparray,
  pg_range.rngsubtype FROM pg_range LEFT OUTER JOIN pg_type ON pg_type.oid = pg_range.rngtypid)
SELECT pg_type.typname, pg_type.typtype, pg_type.oid, pg_type.typarray, ranges.rngtypname, ranges.rngtypid,
  ranges.rngtyparray
FROM pg_type LEFT OUTER JOIN ranges ON pg_type.oid = ranges.rngsubtype WHERE (pg_type.typtype IN('b', 'e'));
-- JDBC: the columns of tables
SELECT * FROM (SELECT n.nspname, c.relname, a.attnotnull OR (t.typtype = 'd' AND t.typnotnull) AS attnotnull,
    row_number() OVER (PARTITION BY a.attrelid ORDER BY a.attnum) AS attnum, nullif(a.attidentity, '') as attidentity,
    pg_catalog.pg_get_expr(def.adbin, def.adrelid) AS adsrc, dsc.description
  FROM pg_catalog.pg_namespace n JOIN pg_catalog.pg_class c ON (c.relnamespace = n.oid)
  JOIN pg_catalog.pg_attribute a ON (a.attrelid = c.oid) JOIN pg_catalog.pg_type t ON (a.atttypid = t.oid)
  LEFT JOIN pg_catalog.pg_attrdef def ON (a.attrelid = def.adrelid AND a.attnum = def.adnum)
  LEFT JOIN pg_catalog.pg_description dsc ON (c.oid = dsc.objoid AND a.attnum = dsc.objsubid)
  WHERE c.relkind in ('r', 'p') AND c.relname LIKE '%') c
WHERE true ORDER BY nspname, c.relname, attnum;
