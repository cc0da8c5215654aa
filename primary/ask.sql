-- Asks a server whether it is the primary, on which WAL timeline it writes (8 hexadecimal digits), and to which cluster
-- it belongs. pg_control_checkpoint() would show the old timeline until the first checkpoint after a promotion.
SELECT pg_catalog.pg_is_in_recovery(),
       CASE WHEN NOT pg_catalog.pg_is_in_recovery()
            THEN pg_catalog.substr(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 1, 8) END,
       (SELECT c.system_identifier FROM pg_catalog.pg_control_system() AS c)
