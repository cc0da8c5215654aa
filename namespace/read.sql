-- The namespace row, with what this server says about itself beside what the row says. Times in microseconds.
SELECT n.id::pg_catalog.text, n.timestamp_bits, n.datacenter_bits, n.worker_bits, n.sequence_bits,
       n.epoch, (extract(epoch FROM n.unit) OPERATOR(pg_catalog.*) 1000000)::bigint,
       n.database_workers, n.function_worker,
       (extract(epoch FROM n.max_window) OPERATOR(pg_catalog.*) 1000000)::bigint,
       (extract(epoch FROM n.skew) OPERATOR(pg_catalog.*) 1000000)::bigint,
       (extract(epoch FROM n.quarantine) OPERATOR(pg_catalog.*) 1000000)::bigint,
       n.acquire_after, coalesce(n.home, ''), n.database_name::pg_catalog.text,
       n.system_identifier, n.database_oid, n.namespace_oid,
       pgflurry.system_identifier(), d.oid, n.tableoid, d.datname::pg_catalog.text
FROM pgflurry.namespace AS n, pg_catalog.pg_database AS d
WHERE d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()
