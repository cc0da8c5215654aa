-- Reads the namespace row, and why it was not written for this database (empty: it was). Times are in microseconds.
SELECT n.id::pg_catalog.text, n.timestamp_bits, n.datacenter_bits, n.worker_bits, n.sequence_bits,
       n.epoch, (extract(epoch FROM n.unit) OPERATOR(pg_catalog.*) 1000000)::bigint,
       n.database_workers, n.function_worker,
       (extract(epoch FROM n.max_window) OPERATOR(pg_catalog.*) 1000000)::bigint,
       (extract(epoch FROM n.skew) OPERATOR(pg_catalog.*) 1000000)::bigint,
       (extract(epoch FROM n.quarantine) OPERATOR(pg_catalog.*) 1000000)::bigint,
       n.acquire_after, coalesce(n.home, ''), n.disposable, n.claim::pg_catalog.text,
       coalesce(n.installed_by, ''), pgflurry.revision(), pgflurry.serves_from(),
       -- through jsonb: an older schema has no such column, and this gives NULL instead of an error
       (pg_catalog.to_jsonb(n) OPERATOR(pg_catalog.->>) 'region')::integer,
       coalesce(pgflurry.why_copied(), ''), pg_catalog.current_database()::pg_catalog.text,
       -- which database this is, only for comparison (empty: it makes no statement), and whether it is closed for good
       coalesce(pgflurry.place(), ''), pgflurry.is_closed()
FROM pgflurry.namespace AS n
