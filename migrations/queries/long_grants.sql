-- Reads whether a grant may exist that is longer than max_window allows now. Either a row shows it, or a failover has
-- made the row forget it. The failover closes the gate for as long as such a grant can last. Until somebody notices the
-- failover, the timeline differs from that of the row.
SELECT n.acquire_after > now.tick
       OR pgflurry.wal_timeline() IS NOT NULL AND n.timeline IS DISTINCT FROM pgflurry.wal_timeline()
       OR EXISTS (SELECT FROM pgflurry.worker AS w
                  WHERE w.kind = 'proxy' AND w.term > 0 AND w.released_at IS NULL
                    AND w.reserved_until > now.tick + pgflurry.ticks_of(n.max_window) + pgflurry.ticks_of(n.skew))
FROM pgflurry.namespace AS n, LATERAL (SELECT pgflurry.ticks(clock_timestamp()) AS tick) AS now
