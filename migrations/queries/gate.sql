-- Reads how long the gate stays closed (milliseconds), until when, and who closed it last (empty: not known).
SELECT greatest(0, ceil(extract(epoch FROM g.opens - clock_timestamp()) * 1000))::bigint, g.opens,
       coalesce(n.gate_by, '')
FROM pgflurry.namespace AS n, LATERAL (SELECT n.epoch + n.acquire_after * n.unit AS opens) AS g
