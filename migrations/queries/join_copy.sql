-- A database that is filled becomes another one of its namespace: worker rows that it has are a copy,
-- and never to be granted.
-- $1 own worker, $2 home, $3 claim
WITH retired AS (
    UPDATE pgflurry.worker SET retired_at = clock_timestamp() WHERE retired_at IS NULL
)
UPDATE pgflurry.namespace SET function_worker = $1, home = $2, claim = $3, joins_complete_on = NULL
