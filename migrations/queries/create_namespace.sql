-- Makes the namespace row and the worker rows. If they exist, only compares them with these values.
-- $1 ... $4 bits of timestamp, datacenter, worker, sequence, $5 epoch, $6 unit (ms), $7 database workers,
-- $8 disposable, $9 id (NULL: a new one), $10 own worker, $11 region (NULL: none)
CALL pgflurry.create_namespace($9, $1, $2, $3, $4, $5, $6 * interval '1 ms', $7, $10, NULL, new_disposable => $8,
    new_region => $11)
