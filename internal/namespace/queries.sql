-- What programs ask about the namespace row. answerable.sql has a file of its own: it decides what a proxy may answer.

-- name: segment_table
-- Which database and table the rows of the tags are in, only for comparison (empty: a standby makes no statement).
-- Whether this role may reserve blocks in that table, and its name.
SELECT coalesce(pgflurry.segment_origin(), ''),
       coalesce(pg_catalog.has_table_privilege(t.oid, 'SELECT')
                AND pg_catalog.has_column_privilege(t.oid, 'max_id', 'UPDATE')
                AND pg_catalog.has_column_privilege(t.oid, 'update_time', 'UPDATE'), false),
       current_user::pg_catalog.text
FROM (SELECT pg_catalog.to_regclass('pgflurry.segment') AS oid) AS t;

-- name: look
-- Reads what distinguishes this database from others. In a home, also reads the workers that database functions hold,
-- and their claims.
SELECT d.oid, pg_catalog.pg_postmaster_start_time(), pg_catalog.pg_is_in_recovery(),
       (SELECT coalesce(pg_catalog.array_agg(w.worker ORDER BY w.worker), '{}') FROM pgflurry.worker AS w
        WHERE w.kind OPERATOR(pg_catalog.=) 'database' AND w.term OPERATOR(pg_catalog.>) 0
          AND w.released_at IS NULL AND w.retired_at IS NULL),
       (SELECT coalesce(pg_catalog.array_agg(w.owner::pg_catalog.text ORDER BY w.worker), '{}')
        FROM pgflurry.worker AS w
        WHERE w.kind OPERATOR(pg_catalog.=) 'database' AND w.term OPERATOR(pg_catalog.>) 0
          AND w.released_at IS NULL AND w.retired_at IS NULL)
FROM pg_catalog.pg_database AS d
WHERE d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database();

-- name: weak_guards
-- Names the guards that are missing, or that do not hold in every session. Empty: all hold.
SELECT coalesce(pg_catalog.string_agg(g, ', ' ORDER BY g), '') FROM pgflurry.weak_guards() AS g;

-- name: mend_sequences
-- Recreates the sequences that a failover left unreadable, and returns their names. Usually there are none.
SELECT s::pg_catalog.text FROM pgflurry.mend_sequences() AS s;

-- name: note_server
-- Lets the row remember this server. $1 the addresses by which it is reached
SELECT pgflurry.note_server($1);

-- name: holders_before
-- Lists proxies that held a worker when the server was started, and have not renewed it since, the latest first. One
-- whose address a later holder has is left out. Columns: node, worker, address. $1 another address to leave out
SELECT w.node, w.worker, w.address
FROM pgflurry.worker AS w, pg_catalog.pg_postmaster_start_time() AS s (started)
WHERE w.kind OPERATOR(pg_catalog.=) 'proxy' AND w.released_at IS NULL AND w.retired_at IS NULL
  AND w.renewed_at OPERATOR(pg_catalog.<) s.started AND w.address OPERATOR(pg_catalog.<>) $1
  AND NOT EXISTS (SELECT FROM pgflurry.worker AS o WHERE o.address OPERATOR(pg_catalog.=) w.address
                  AND o.renewed_at OPERATOR(pg_catalog.>=) s.started)
ORDER BY w.renewed_at DESC LIMIT 8;

-- name: read
-- Reads the namespace row, and why it was not written for this database (empty: it was). Times are in microseconds.
-- $1 the addresses by which this server is reached
SELECT n.id::pg_catalog.text, n.timestamp_bits, n.datacenter_bits, n.worker_bits, n.sequence_bits,
       n.epoch, (extract(epoch FROM n.unit) OPERATOR(pg_catalog.*) 1000000)::bigint,
       n.database_workers, n.function_worker,
       (extract(epoch FROM n.max_window) OPERATOR(pg_catalog.*) 1000000)::bigint,
       (extract(epoch FROM n.skew) OPERATOR(pg_catalog.*) 1000000)::bigint,
       (extract(epoch FROM n.quarantine) OPERATOR(pg_catalog.*) 1000000)::bigint,
       n.acquire_after, coalesce(n.home, ''), n.disposable, n.claim::pg_catalog.text,
       coalesce(n.installed_by, ''), pgflurry.revision(), pgflurry.leases_from(), n.region,
       coalesce(pgflurry.why_copied(), CASE WHEN n.new_server OPERATOR(pg_catalog.=) 'refuse' THEN s.why END, ''),
       pg_catalog.current_database()::pg_catalog.text,
       -- which database this is, only for comparison (empty: it makes no statement), and whether it is closed for good
       coalesce(pgflurry.place(), ''), pgflurry.is_closed(),
       n.function_workers::pg_catalog.text, n.foreign_workers::pg_catalog.text,
       -- why the server is not known (empty: it is), whether that is refused, and whether there is something to note
       CASE WHEN s.why IS NULL OR pgflurry.why_copied() IS NOT NULL THEN '' ELSE s.why END,
       n.new_server OPERATOR(pg_catalog.=) 'refuse',
       CASE WHEN k.noted OR pgflurry.why_copied() IS NOT NULL THEN false
            ELSE pgflurry.server_to_note($1) IS NOT NULL END
FROM pgflurry.namespace AS n,
     -- the usual case, in which nothing else is asked: the same start, reached as before
     LATERAL (SELECT n.server OPERATOR(pg_catalog.->) 'started' OPERATOR(pg_catalog.=)
                         pg_catalog.to_jsonb(extract(epoch FROM pg_catalog.pg_postmaster_start_time()))
                     AND n.server OPERATOR(pg_catalog.->) 'reached' OPERATOR(pg_catalog.@>)
                         pg_catalog.to_jsonb(pg_catalog.string_to_array($1, ' '))) AS k (noted),
     LATERAL (SELECT CASE WHEN k.noted THEN NULL ELSE pgflurry.new_server($1) END) AS s (why);
