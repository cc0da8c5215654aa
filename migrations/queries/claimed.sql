-- Who holds the database workers, for a message.
SELECT coalesce(string_agg(format('%s %s', worker, node), ', ' ORDER BY worker), '') FROM pgflurry.worker WHERE kind = 'database' AND term > 0
