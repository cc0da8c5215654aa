-- Lets a database that has IDs already join its namespace, with a worker of its own. If it has worker rows, they are
-- copies of the home's rows. They are retired here, so that nobody gets a lease from them.
-- $1 own worker, $2 home, $3 claim
WITH retired AS (
    UPDATE pgflurry.worker SET retired_at = clock_timestamp() WHERE retired_at IS NULL
)
UPDATE pgflurry.namespace SET function_worker = $1, home = $2, claim = $3, joins_complete_on = NULL
