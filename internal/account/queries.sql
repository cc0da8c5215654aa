-- The list of clients of the ID database, in table pgflurry.client.

-- name: put
-- Adds a client. If a client of that name exists, and $8 is true, changes it: the verifier always, the end and the
-- connection limit only if they are given. If it exists and $8 is false, changes nothing and returns no row.
-- $1 name, $2 verifier (NULL: the client logs in with a certificate alone), $3 whether the end is given, $4 the end,
-- $5 seconds from now to the end, used if $4 is NULL (both NULL: the access never ends), $6 whether the limit is given,
-- $7 the limit (NULL: none), $8 whether an existing client may be changed
INSERT INTO pgflurry.client AS c (name, verifier, valid_until, connection_limit)
VALUES ($1::text, $2::text, coalesce($4::timestamptz, clock_timestamp() + make_interval(secs => $5::float8)),
        $7::integer)
ON CONFLICT (name) DO UPDATE
    SET verifier = excluded.verifier,
        valid_until = CASE WHEN $3::boolean THEN excluded.valid_until ELSE c.valid_until END,
        connection_limit = CASE WHEN $6::boolean THEN excluded.connection_limit ELSE c.connection_limit END
    WHERE $8::boolean
RETURNING xmax = 0 AS added, valid_until, connection_limit;

-- name: expire
-- Sets when a client's access ends. Returns no row if there is no such client.
-- $1 name, $2 the end, $3 seconds from now to the end, used if $2 is NULL (both NULL: the access never ends)
UPDATE pgflurry.client
SET valid_until = coalesce($2::timestamptz, clock_timestamp() + make_interval(secs => $3::float8))
WHERE name = $1::text
RETURNING valid_until, valid_until <= clock_timestamp();

-- name: remove
-- Removes a client.
-- $1 name
DELETE FROM pgflurry.client WHERE name = $1::text;

-- name: read
-- Reads all accounts, and the secret from which logins of unknown clients get their salts. One statement reads both, so
-- they are from one state of the tables. Without accounts there is one row with the secret alone.
SELECT s.secret, c.name, c.verifier, c.valid_until, c.connection_limit, c.created_at, c.changed_at
FROM pgflurry.client_secret AS s LEFT JOIN pgflurry.client AS c ON true
ORDER BY c.name;
