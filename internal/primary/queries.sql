-- What a server is asked to find the primary.

-- name: ask
-- Asks a server whether it is the primary, on which WAL timeline it writes (8 hexadecimal digits), and to which cluster
-- it belongs. pg_control_checkpoint() would show the old timeline until the first checkpoint after a promotion.
SELECT pg_catalog.pg_is_in_recovery(),
       CASE WHEN NOT pg_catalog.pg_is_in_recovery()
            THEN pg_catalog.substr(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 1, 8) END,
       (SELECT c.system_identifier FROM pg_catalog.pg_control_system() AS c);

-- name: ask_timeline
-- The question for a server that does not show its system identifier.
SELECT pg_catalog.pg_is_in_recovery(),
       CASE WHEN NOT pg_catalog.pg_is_in_recovery()
            THEN pg_catalog.substr(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 1, 8) END,
       NULL::pg_catalog.int8;

-- name: ask_recovery
-- The question for a server that shows neither its timeline nor its system identifier.
SELECT pg_catalog.pg_is_in_recovery(), NULL::pg_catalog.text, NULL::pg_catalog.int8;
