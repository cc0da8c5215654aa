-- Gives a lease back. IDs up to the acknowledged mark may exist. So the row gets that mark again if a failover or a
-- restore has forgotten it, because a released worker has no quarantine. If no row changes, the lease was lost before.
-- Then the row may prove, as in renew.sql, that acknowledged writes are gone.
-- $1 namespace id, $2 worker, $3 owner, $4 term, $5 acknowledged mark
WITH released AS (
    UPDATE pgflurry.leasable_worker w
    SET reserved_until = greatest(w.reserved_until, $5::bigint),
        released_at = clock_timestamp()
    FROM pgflurry.namespace n
    WHERE n.id = $1::uuid
      AND w.worker = $2::integer
      AND w.owner = $3::uuid AND w.term = $4::bigint
      AND w.released_at IS NULL
    RETURNING w.worker
),
witnessed AS (
    UPDATE pgflurry.namespace n
    SET acquire_after = greatest(n.acquire_after, pgflurry.ticks(clock_timestamp()) + pgflurry.ticks_of(n.quarantine)),
        joins_complete_on = NULL
    FROM pgflurry.worker w
    WHERE n.id = $1::uuid AND n.home IS NULL AND pgflurry.is_original() AND w.worker = $2::integer
      AND (w.term < $4::bigint OR w.term = $4::bigint AND w.owner <> $3::uuid OR w.reserved_until < $5::bigint)
    RETURNING n.id
)
SELECT n.id AS namespace, released.worker, EXISTS (SELECT FROM witnessed) AS forgot
FROM pgflurry.namespace n
LEFT JOIN released ON true;
