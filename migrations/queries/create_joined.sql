-- Makes the namespace row of a database that joins. The worker rows stay in its home.
-- $1 ... $4 bits of timestamp, datacenter, worker, sequence, $5 epoch, $6 unit (ms), $7 database workers, $8 id,
-- $9 own worker, $10 home, $11 claim, $12 region
CALL pgflurry.create_namespace($8, $1, $2, $3, $4, $5, $6 * interval '1 ms', $7, $9, $10, $11,
    new_region => $12)
