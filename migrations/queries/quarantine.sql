-- Gives the namespace another quarantine. $1 the quarantine, microseconds
-- The table is locked: whatever was granted by the old quarantine is written before this, also in the WAL.
WITH ns AS MATERIALIZED (
    SELECT n.id, pgflurry.ticks(clock_timestamp()) AS now, 1::bigint << n.timestamp_bits AS end_of_time,
           pgflurry.ticks_of(n.quarantine) AS former, $1 * interval '1 microsecond' AS quarantine
    FROM pgflurry.namespace AS n
),
-- Who is past his mark has lost his lease now: with another quarantine he might be let renew when others may have had
-- his worker, or might be kept from it when they may not. The worker is free when it would have been.
silent AS (
    UPDATE pgflurry.worker AS w
    SET reserved_until = greatest(w.reserved_until, least(w.reserved_until + ns.former, ns.end_of_time)),
        released_at = clock_timestamp()
    FROM ns
    WHERE w.kind = 'proxy' AND w.term > 0 AND w.released_at IS NULL AND w.retired_at IS NULL
      AND w.reserved_until <= ns.now
)
-- A gate that was closed lately is closed for the new quarantine, if that is longer: what the rows have forgotten may
-- be an earlier change of the quarantine itself.
UPDATE pgflurry.namespace AS n
SET quarantine = ns.quarantine,
    acquire_after = CASE WHEN n.acquire_after > 0 THEN
        greatest(n.acquire_after, n.acquire_after + pgflurry.ticks_of(ns.quarantine) - ns.former) ELSE 0 END
FROM ns
WHERE n.id = ns.id
