-- The question for a server that does not show its system identifier.
SELECT pg_catalog.pg_is_in_recovery(),
       CASE WHEN NOT pg_catalog.pg_is_in_recovery()
            THEN pg_catalog.substr(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 1, 8) END,
       NULL::pg_catalog.int8
