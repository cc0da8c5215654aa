-- What a backfill sends to the database of the table. Two more statements name the table, so look writes them.

-- name: find
-- Finds the table by the search_path of the role: its oid (NULL: there is none), and that path. $1 name of the table
SELECT pg_catalog.to_regclass($1::pg_catalog.text)::pg_catalog.oid::pg_catalog.int8,
       pg_catalog.current_setting('search_path');

-- name: settings
-- What the transaction needs, whatever the role has set. With row_security off, a policy that hides rows is an error.
-- Compiling the two large statements takes longer than it saves.
SELECT pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true),
       pg_catalog.set_config('row_security', 'off', true),
       pg_catalog.set_config('statement_timeout', '0', true),
       pg_catalog.set_config('jit', 'off', true);

-- name: look
-- Reads what the table and its columns are, and writes the statements that number its rows and fill them.
-- Columns: name of the table, kind of relation, types of the columns of the ID, of the time and of the order (empty:
-- there is none), and the two statements.
-- $1 oid of the table, $2 column of the ID, $3 column of the time, $4 column of the order (empty: none), $5 time zone
WITH t AS (
    SELECT c.oid, c.relkind, format('%I.%I', n.nspname, c.relname) AS name
    FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE c.oid = $1::bigint
), a AS (
    SELECT a.attname::text AS name, a.atttypid::regtype::text AS type
    FROM pg_attribute AS a JOIN t ON a.attrelid = t.oid
    WHERE a.attnum > 0 AND NOT a.attisdropped
), c AS (
    SELECT coalesce((SELECT type FROM a WHERE name = $2::text), '') AS id,
           coalesce((SELECT type FROM a WHERE name = $3::text), '') AS at,
           coalesce((SELECT type FROM a WHERE name = $4::text), '') AS key
)
SELECT t.name, t.relkind::text, c.id, c.at, c.key, format($number$
-- Numbers the rows of a backfill. A time outside of all layouts becomes one that is refused.
INSERT INTO pg_temp.pgflurry_backfill (part, place, tick, slot)
SELECT k.part, k.place, k.tick,
       k.n + max((k.tick * %5$s) + (hashint8(k.tick) & (greatest(%5$s / 4, 1) - 1)) - k.n) OVER (ORDER BY k.n)
FROM (
    SELECT f.part, f.place, row_number() OVER (ORDER BY f.at, f.key, f.part, f.place) AS n,
           CASE WHEN isfinite(f.at) THEN greatest(-1, least(%6$s,
               ((least(extract(epoch FROM f.at), 1e11) * 1000000)::bigint - %7$s) / %8$s)) END AS tick
    FROM (
        SELECT t.tableoid AS part, t.ctid AS place, %2$s AS at, %3$s AS key
        FROM %1$s AS t
        WHERE t.%4$I IS NULL
        FOR NO KEY UPDATE OF t
    ) AS f
) AS k
$number$, t.name,
        CASE WHEN c.at = 'timestamp with time zone' THEN format('t.%I', $3::text)
             ELSE format('(t.%I::timestamp AT TIME ZONE %L)', $3::text, $5::text) END,
        CASE WHEN $4::text = '' THEN '0' ELSE format('t.%I', $4::text) END,
        $2::text, 1::bigint << n.sequence_bits, 1::bigint << n.timestamp_bits,
        (extract(epoch FROM n.epoch) * 1000000)::bigint, (extract(epoch FROM n.unit) * 1000000)::bigint),
    format($fill$
-- Gives each numbered row its ID. $1 bits of the sequence, $2 bits of the worker, $3 the worker
UPDATE %1$s AS t
SET %2$I = (((b.slot OPERATOR(pg_catalog.>>) $1::integer) OPERATOR(pg_catalog.<<)
                ($1::integer OPERATOR(pg_catalog.+) $2::integer))
            OPERATOR(pg_catalog.|) ($3::bigint OPERATOR(pg_catalog.<<) $1::integer))
           OPERATOR(pg_catalog.|) (b.slot OPERATOR(pg_catalog.&)
               ((1::bigint OPERATOR(pg_catalog.<<) $1::integer) OPERATOR(pg_catalog.-) 1::bigint))
FROM pg_temp.pgflurry_backfill AS b
WHERE t.tableoid OPERATOR(pg_catalog.=) b.part AND t.ctid OPERATOR(pg_catalog.=) b.place
$fill$, t.name, $2::text)
FROM t CROSS JOIN c CROSS JOIN pgflurry.namespace AS n;

-- name: prepare
-- The rows of this run: which they are, their ticks, and the slots that they get.
CREATE TEMPORARY TABLE pgflurry_backfill (part oid, place tid, tick bigint, slot bigint) ON COMMIT DROP;

-- name: count
-- Reads what was numbered. $1 bits of the sequence
-- Columns: rows, rows without a finite time, the lowest and the highest tick, the tick of the last slot, how many rows
-- are in a later tick than their own, and how many ticks later at most, and the tick of the clock.
SELECT count(*), count(*) FILTER (WHERE tick IS NULL), coalesce(min(tick), 0), coalesce(max(tick), 0),
       coalesce(max(slot >> $1::integer), 0), count(*) FILTER (WHERE (slot >> $1::integer) > tick),
       coalesce(max((slot >> $1::integer) - tick), 0), pgflurry.ticks(clock_timestamp())
FROM pg_temp.pgflurry_backfill;

-- name: path
-- The path by which functions and triggers of the table find what they name. $1 as find has read it
SELECT pg_catalog.set_config('search_path', $1::pg_catalog.text, true);
