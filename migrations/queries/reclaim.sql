-- Compares the claim of a joined database with the row of its worker. Runs in the home.
--
-- It updates the row in three cases: a failover or an old backup has forgotten the claim, the database has another
-- name, or $6 says that the database has moved to another address. If it has moved, the row gets a new claim. So a
-- second copy of the database cannot use the old claim to move to the same worker. If a worker was retired or given
-- back, no claim to it counts.
--
-- Columns:
--  - whether the row has this claim
--  - whether the claim was made from this address, or $6 lets it move
--  - whether the row was updated, if one of the three cases holds
--  - name, address and time, as the row had them before
--  - the claim that is valid from now on
-- Returns no row if the home has no such worker, or is no longer the original of namespace $7.
--
-- $1 worker, $2 claim, $3 name of the database, $4 address, $5 version, $6 moved, $7 namespace
WITH before AS (
    SELECT worker, term, owner, node, address, acquired_at, released_at, retired_at
    FROM pgflurry.worker
    WHERE worker = $1 AND kind = 'database'
      AND (SELECT id FROM pgflurry.namespace) = $7::uuid AND pgflurry.is_original() AND NOT pgflurry.is_closed()
    FOR UPDATE
), judged AS (
    SELECT *,
           term = 0 AND retired_at IS NULL AS forgotten,
           released_at IS NULL AND retired_at IS NULL AND owner = $2::uuid AS ours,
           -- only the server is compared: a renamed database is still the same, and a copy is on another server
           split_part(address, '/', 1) IS NOT DISTINCT FROM split_part($4, '/', 1) AS here
    FROM before
), due AS (
    SELECT *, forgotten OR ours AND ($6 OR here AND node IS DISTINCT FROM $3) AS changes FROM judged
), written AS (
    UPDATE pgflurry.worker AS w
    SET owner = CASE WHEN $6 THEN gen_random_uuid() ELSE $2::uuid END,
        term = w.term + 1, node = $3, address = $4, version = $5, acquired_at = clock_timestamp()
    FROM due
    WHERE w.worker = due.worker AND due.changes
    RETURNING w.owner
)
SELECT forgotten OR coalesce(ours, false), forgotten OR here OR $6,
       changes IS NOT TRUE OR EXISTS (SELECT FROM written),
       coalesce(node, ''), coalesce(address, ''), acquired_at,
       coalesce((SELECT owner FROM written), $2::uuid)::text
FROM due
