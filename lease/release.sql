-- Gives a lease back. IDs up to the acknowledged mark may exist. So the row gets that mark again if a failover or a
-- restore has forgotten it, because a released worker has no quarantine. If no row changes, the lease was lost before.
-- $1 namespace id, $2 worker, $3 owner, $4 term, $5 acknowledged mark
WITH released AS (
    UPDATE pgflurry.worker w
    SET reserved_until = greatest(w.reserved_until, $5::bigint),
        released_at = clock_timestamp()
    FROM pgflurry.namespace n
    WHERE n.id = $1::uuid
      AND w.worker = $2::integer AND w.kind = 'proxy'
      AND w.owner = $3::uuid AND w.term = $4::bigint
      AND w.released_at IS NULL
    RETURNING w.worker
)
SELECT n.id AS namespace, released.worker
FROM pgflurry.namespace n
LEFT JOIN released ON true;
