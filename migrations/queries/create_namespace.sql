-- $1 ... $4 bits of timestamp, datacenter, worker, sequence, $5 epoch, $6 unit (ms), $7 database workers, $8 disposable
CALL pgflurry.create_namespace(NULL, $1, $2, $3, $4, $5, $6 * interval '1 ms', $7, 0, NULL, new_disposable => $8)
