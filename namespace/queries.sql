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

-- name: read
-- Reads the namespace row, and why it was not written for this database (empty: it was). Times are in microseconds.
SELECT n.id::pg_catalog.text, n.timestamp_bits, n.datacenter_bits, n.worker_bits, n.sequence_bits,
       n.epoch, (extract(epoch FROM n.unit) OPERATOR(pg_catalog.*) 1000000)::bigint,
       n.database_workers, n.function_worker,
       (extract(epoch FROM n.max_window) OPERATOR(pg_catalog.*) 1000000)::bigint,
       (extract(epoch FROM n.skew) OPERATOR(pg_catalog.*) 1000000)::bigint,
       (extract(epoch FROM n.quarantine) OPERATOR(pg_catalog.*) 1000000)::bigint,
       n.acquire_after, coalesce(n.home, ''), n.disposable, n.claim::pg_catalog.text,
       coalesce(n.installed_by, ''), pgflurry.revision(), pgflurry.leases_from(), n.region,
       coalesce(pgflurry.why_copied(), ''), pg_catalog.current_database()::pg_catalog.text,
       -- which database this is, only for comparison (empty: it makes no statement), and whether it is closed for good
       coalesce(pgflurry.place(), ''), pgflurry.is_closed(),
       n.function_workers::pg_catalog.text, n.foreign_workers::pg_catalog.text
FROM pgflurry.namespace AS n;
