-- Runs in the home: compares the claim of a joined database with the row of its worker. Written is a claim that a failover or an old
-- backup has forgotten, a name that has changed, and with $6 an address that has. Otherwise only an answer: whether the row
-- carries this claim, and from where it was made. No row: the home has no such worker.
-- $1 worker, $2 claim, $3 name of the database, $4 address, $5 version, $6 moved
WITH before AS (
    SELECT worker, term, owner, node, address, acquired_at FROM pgflurry.worker WHERE worker = $1 AND kind = 'database' FOR UPDATE
), judged AS (
    SELECT *, term = 0 AS forgotten, owner = $2::uuid AS ours,
           -- a database may have been renamed; a copy of it has another server
           split_part(address, '/', 1) IS NOT DISTINCT FROM split_part($4, '/', 1) AS here
    FROM before
), written AS (
    UPDATE pgflurry.worker AS w
    SET owner = $2::uuid, term = w.term + 1, node = $3, address = $4, version = $5, acquired_at = clock_timestamp()
    FROM judged AS j
    WHERE w.worker = j.worker AND (j.forgotten OR j.ours AND (j.here AND j.node IS DISTINCT FROM $3 OR NOT j.here AND $6))
)
SELECT forgotten OR coalesce(ours, false), forgotten OR here OR $6, coalesce(node, ''), coalesce(address, ''), acquired_at FROM judged
