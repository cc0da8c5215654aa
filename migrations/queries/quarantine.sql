-- Changes the quarantine of the namespace. $1 the quarantine, microseconds
-- The caller has locked the worker rows. So every grant under the old quarantine is committed before this change, and
-- comes before it in the WAL.
WITH ns AS MATERIALIZED (
    SELECT n.id, pgflurry.ticks(clock_timestamp()) AS now, 1::bigint << n.timestamp_bits AS end_of_time,
           pgflurry.ticks_of(n.quarantine) AS former, $1 * interval '1 microsecond' AS quarantine
    FROM pgflurry.namespace AS n
),
-- A lease whose mark has passed ends here. Its holder could still renew it, for a time that depends on the quarantine.
-- With a longer quarantine it could renew after another process has had its worker. With a shorter one it could be
-- refused without need. The worker becomes free when the old quarantine would have ended.
silent AS (
    UPDATE pgflurry.worker AS w
    SET reserved_until = greatest(w.reserved_until, least(w.reserved_until + ns.former, ns.end_of_time)),
        released_at = clock_timestamp()
    FROM ns
    WHERE w.kind = 'proxy' AND w.term > 0 AND w.released_at IS NULL AND w.retired_at IS NULL
      AND w.reserved_until <= ns.now
)
-- If a failover has closed the gate, it now stays closed for the new quarantine, if that is longer. The rows may have
-- forgotten an earlier change of the quarantine itself.
UPDATE pgflurry.namespace AS n
SET quarantine = ns.quarantine,
    acquire_after = CASE WHEN n.acquire_after > 0 THEN
        greatest(n.acquire_after, n.acquire_after + pgflurry.ticks_of(ns.quarantine) - ns.former) ELSE 0 END
FROM ns
WHERE n.id = ns.id
