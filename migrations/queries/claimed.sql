-- Who holds the database workers, and how long it is until the first of the others is free (ms; NULL: there is no other), for a message.
SELECT coalesce(string_agg(format('%s %s', worker, node), ', ' ORDER BY worker) FILTER (WHERE term > 0 AND released_at IS NULL), ''),
       (SELECT (extract(epoch FROM (min(w.reserved_until) FILTER (WHERE w.retired_at IS NULL AND (w.term = 0 OR w.released_at IS NOT NULL))
                                    - pgflurry.ticks(clock_timestamp())) * n.unit) * 1000)::bigint
        FROM pgflurry.worker AS w WHERE w.kind = 'database')
FROM pgflurry.worker, pgflurry.namespace AS n WHERE kind = 'database' GROUP BY n.unit
