-- Gives the function of this database another worker. $1 worker, $2 claim
UPDATE pgflurry.namespace SET function_worker = $1, claim = $2
