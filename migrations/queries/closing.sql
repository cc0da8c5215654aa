-- Reads whether this database is closed, and until when grants may be in use.
-- Columns: whether it is closed, generation, since when, when the last grant is over (NULL: no proxy leases here),
-- milliseconds until then, and how many leases are in use.
-- A grant ends at its mark, which may be by the clock of another server. The rows may lack grants that a failover or a
-- restore has forgotten: those end before the gate opens. A server that has just started may have forgotten some, too.
WITH ends AS (
    SELECT n.*,
           (SELECT count(*) FROM pgflurry.worker AS w
            WHERE w.kind = 'proxy' AND w.term > 0 AND w.released_at IS NULL
              AND w.reserved_until > pgflurry.ticks(clock_timestamp())) AS leases,
           CASE WHEN n.home IS NULL THEN
               n.skew + greatest(
                   n.epoch + n.acquire_after * n.unit,
                   (SELECT n.epoch + max(w.reserved_until) * n.unit FROM pgflurry.worker AS w
                    WHERE w.kind = 'proxy' AND w.term > 0 AND w.released_at IS NULL),
                   CASE WHEN n.born IS DISTINCT FROM s.started AND n.restart_quarantine IS DISTINCT FROM '0'
                        THEN s.started + coalesce(n.restart_quarantine, n.max_window + 2 * n.skew) END)
           END AS over
    FROM pgflurry.namespace AS n, pg_postmaster_start_time() AS s (started)
)
SELECT pgflurry.is_closed(), e.generation, e.closed_at, e.over,
       greatest(0, ceil(extract(epoch FROM e.over - clock_timestamp()) * 1000))::bigint, e.leases
FROM ends AS e
