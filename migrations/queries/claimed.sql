-- Reads why the home gave no worker, for the error message. Columns:
--  - who holds the database workers
--  - whether the home knows every database that has joined
--  - milliseconds until the first unclaimed worker is free, because its mark has passed (NULL: all are claimed)
SELECT coalesce(string_agg(format('%s %s', w.worker,
               CASE w.worker WHEN n.function_worker THEN current_database() ELSE w.node END), ', ' ORDER BY w.worker)
           FILTER (WHERE w.term > 0 AND w.released_at IS NULL), 'none'),
       pgflurry.joins_are_known(),
       (extract(epoch FROM (
           min(w.reserved_until) FILTER (WHERE w.retired_at IS NULL AND (w.term = 0 OR w.released_at IS NOT NULL))
               - pgflurry.ticks(clock_timestamp())) * n.unit) * 1000)::bigint
FROM pgflurry.worker AS w, pgflurry.namespace AS n WHERE w.kind = 'database' GROUP BY n.unit
