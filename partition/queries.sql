-- What "pgflurry partition" asks and does. Go fills in what begins with a percent sign: names that are quoted, and
-- bounds.

-- name: session
-- Sets how long the session waits for a lock. Nothing else may end a statement.
SELECT set_config('lock_timeout', $1, false), set_config('statement_timeout', '0', false),
       set_config('standard_conforming_strings', 'on', false);

-- name: backend
-- Tells a session with PostgreSQL from one with a pooler, which has a number of its own.
SELECT pg_backend_pid();

-- name: exclude
-- Takes the lock that excludes other runs for the same table, until the session ends: "pgfl", then the OID.
SELECT pg_try_advisory_lock((x'7067666c'::bigint << 32) | $1::bigint);

-- name: usable
-- Says whether the function is there that a run needs.
SELECT to_regprocedure('public.snowflake_floor(timestamptz)') IS NOT NULL;

-- name: table
-- Reads what decides whether the table fits, and what its partitions have from it.
SELECT c.oid::bigint, n.nspname::text, c.relname::text, c.relkind::text, c.relpersistence::text,
       coalesce(pg_get_partkeydef(c.oid), ''),
       coalesce(p.partstrat = 'r' AND p.partnatts = 1 AND a.atttypid = 'bigint'::regtype, false),
       coalesce(nullif(p.partdefid, 0)::regclass::text, ''),
       CASE WHEN c.relowner = current_user::regrole THEN '' ELSE pg_get_userbyid(c.relowner)::text END,
       coalesce(t.spcname::text, ''), coalesce(m.amname::text, '')
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
    LEFT JOIN pg_partitioned_table AS p ON p.partrelid = c.oid
    LEFT JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = p.partattrs[0]
    LEFT JOIN pg_tablespace AS t ON t.oid = c.reltablespace
    LEFT JOIN pg_am AS m ON m.oid = c.relam
WHERE c.oid = to_regclass($1::text);

-- name: parts
-- Lists the partitions: their bounds, comment, and what their owner has set.
SELECT n.nspname::text, c.relname::text, c.relkind::text, c.relpersistence::text, c.relreplident::text,
       i.inhdetachpending, pg_get_expr(c.relpartbound, c.oid), coalesce(obj_description(c.oid, 'pg_class'), ''),
       (SELECT coalesce(string_agg(o.prefix || format('%I = %L', split_part(o.option, '=', 1),
                substr(o.option, strpos(o.option, '=') + 1)), ', '), '')
        FROM (SELECT '', unnest(c.reloptions) UNION ALL SELECT 'toast.', unnest(s.reloptions)) AS o (prefix, option)),
       c.relowner <> (SELECT relowner FROM pg_class WHERE oid = i.inhparent)
FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace
    LEFT JOIN pg_class AS s ON s.oid = c.reltoastrelid
WHERE i.inhparent = $1::bigint::oid;

-- name: left
-- Lists tables that a run has detached, and has not dropped: their comments begin with the mark. Others than the owner
-- could write such a comment on tables of theirs.
SELECT n.nspname::text, c.relname::text, d.description
FROM pg_description AS d JOIN pg_class AS c ON c.oid = d.objoid JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE d.classoid = 'pg_class'::regclass AND d.objsubid = 0 AND starts_with(d.description, $1::text)
  AND c.relkind = 'r' AND NOT c.relispartition
  AND c.relowner = (SELECT relowner FROM pg_class WHERE oid = $2::bigint::oid)
ORDER BY 1, 2;

-- name: starts
-- Lists when units begin, in the zone, around the current one: the local time, and the first ID.
SELECT u.local, public.snowflake_floor(timezone($2::text, u.local)), statement_timestamp()
FROM (SELECT date_trunc($1::text, timezone($2::text, statement_timestamp()))) AS c (local),
    generate_series(-$3::integer, $4::integer) AS k (nth),
    LATERAL (SELECT c.local + k.nth * ('1 ' || $1::text)::interval) AS u (local)
ORDER BY k.nth;

-- name: times
-- Translates IDs into local times. Numbers that are no IDs, and old keys, have none.
SELECT i.id, timezone($2::text, public.snowflake_time(i.id)) FROM unnest($1::bigint[]) AS i (id)
WHERE i.id BETWEEN public.snowflake_floor('-infinity') AND public.snowflake_ceil('infinity');

-- name: first
-- Reads the first number that can be an ID.
SELECT public.snowflake_floor('-infinity');

-- name: taken
-- Lists the names of a schema that a new table cannot have.
SELECT relname::text FROM pg_class WHERE relnamespace = $1::text::regnamespace
UNION SELECT typname::text FROM pg_type WHERE typnamespace = $1::text::regnamespace;

-- name: head
SET lock_timeout = '%dms';
SET statement_timeout = 0;
SET standard_conforming_strings = on;

-- name: begin
BEGIN;

-- name: commit
COMMIT;

-- name: roll_back
ROLLBACK;

-- name: create
CREATE%s TABLE %s (LIKE %s INCLUDING ALL EXCLUDING IDENTITY EXCLUDING INDEXES)%s;

-- name: own
ALTER TABLE %s OWNER TO %s;

-- name: identify
ALTER TABLE %s REPLICA IDENTITY %s;

-- name: attach
ALTER TABLE %s ATTACH PARTITION %s FOR VALUES FROM (%s) TO (%s);

-- name: comment
COMMENT ON TABLE %s IS %s;

-- name: detach
ALTER TABLE %s DETACH PARTITION %s CONCURRENTLY;

-- name: finalize
ALTER TABLE %s DETACH PARTITION %s FINALIZE;

-- name: drop
DROP TABLE %s;
