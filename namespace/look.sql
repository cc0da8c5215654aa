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
WHERE d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()
