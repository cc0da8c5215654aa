-- Lists what may have issued IDs that are ahead of the clock: workers and the function. A worker is listed for one
-- quarantine longer. Columns: worker (NULL: the function), last holder, milliseconds left.
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
