-- Workers whose IDs may be ahead of the clock, or whose rest is not over, and the function if its IDs may be:
-- which (NULL: the function), who held it, and how long still.
SELECT w.worker, coalesce(w.node, '') AS node,
       (extract(epoch FROM (w.reserved_until - now.tick) * n.unit + n.quarantine) * 1000)::bigint AS ms
FROM pgflurry.worker AS w, pgflurry.namespace AS n, LATERAL (SELECT pgflurry.ticks(clock_timestamp()) AS tick) AS now
WHERE w.reserved_until > 0 AND w.reserved_until + pgflurry.ticks_of(n.quarantine) > now.tick
UNION ALL
SELECT NULL, '', (extract(epoch FROM (m.tick - now.tick) * n.unit) * 1000)::bigint
FROM (SELECT greatest(m.last_value, s.last_value) AS tick FROM pgflurry.mark AS m, pgflurry.mark_stand_in AS s) AS m,
     pgflurry.namespace AS n, LATERAL (SELECT pgflurry.ticks(clock_timestamp()) AS tick) AS now
WHERE m.tick > now.tick
ORDER BY ms DESC, worker
