-- Reads how long no worker is granted after a start of the server, in microseconds, and until when none is (NULL: the
-- start of the server keeps none back). In the life of the server in which the row was written nothing is forgotten.
SELECT (extract(epoch FROM r.length) * 1000000)::bigint,
       CASE WHEN n.home IS NULL AND n.born IS DISTINCT FROM pg_postmaster_start_time() AND r.length > '0'
            THEN pg_postmaster_start_time() + r.length END
FROM pgflurry.namespace AS n,
     LATERAL (SELECT coalesce(n.restart_quarantine, n.max_window + 2 * n.skew) AS length) AS r
