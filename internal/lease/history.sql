-- Who held which worker when: the present holders and those before them, the latest first.
-- $1: only this worker, NULL: all
SELECT h.worker, h.kind, h.term,
       coalesce(h.node, '') AS node, coalesce(h.address, '') AS address, coalesce(h.version, '') AS version,
       h.acquired_at, h.renewed_at, h.released_at, h.reserved_until
FROM (
    SELECT worker, kind, term, node, address, version, acquired_at, renewed_at, released_at,
           CASE WHEN kind <> 'database' THEN reserved_until END AS reserved_until
    FROM pgflurry.worker
    WHERE term > 0 AND (kind = 'database' OR renewed_at IS NOT NULL) -- without it: reseeded, no holder
    UNION ALL
    SELECT worker, kind, term, node, address, version, acquired_at, renewed_at, released_at,
           CASE WHEN kind = 'proxy' THEN reserved_until END
    FROM pgflurry.worker_history
) h
WHERE $1::integer IS NULL OR h.worker = $1::integer
ORDER BY h.acquired_at DESC NULLS LAST, h.worker, h.term DESC;
