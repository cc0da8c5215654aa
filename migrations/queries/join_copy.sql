-- A copy becomes another database of its namespace: its worker rows, a copy too, are never to be granted.
-- $1 own worker, $2 home
WITH retired AS (
    UPDATE pgflurry.worker SET retired_at = clock_timestamp() WHERE retired_at IS NULL
)
UPDATE pgflurry.namespace SET function_worker = $1, home = $2
