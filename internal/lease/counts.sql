-- The numbers that list.sql does not show: workers never used, and how long the gate stays closed, and who
-- closed it last.
SELECT count(*) FILTER (WHERE w.kind = 'proxy'), count(*) FILTER (WHERE w.kind = 'database'),
       (SELECT greatest(0, n.acquire_after - pgflurry.ticks(clock_timestamp()))
               * (extract(epoch FROM n.unit) * 1000000)::bigint
        FROM pgflurry.namespace n),
       (SELECT coalesce(n.gate_by, '') FROM pgflurry.namespace n)
FROM pgflurry.worker w
WHERE w.term = 0 AND w.retired_at IS NULL;
