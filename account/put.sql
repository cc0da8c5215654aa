-- Adds a client. Where there is one of that name, and it may be changed: gives it the verifier, and whatever else is
-- said. What is not said stays.
-- $1 name, $2 verifier (NULL: certificate alone), $3 whether the end is said, $4 the end, $5 seconds from now to the
-- end, where $4 is NULL (both NULL: never), $6 whether the limit is said, $7 the limit (NULL: none),
-- $8 whether one that is there may be changed
INSERT INTO pgflurry.client AS c (name, verifier, valid_until, connection_limit)
VALUES ($1::text, $2::text, coalesce($4::timestamptz, clock_timestamp() + make_interval(secs => $5::float8)),
        $7::integer)
ON CONFLICT (name) DO UPDATE
    SET verifier = excluded.verifier,
        valid_until = CASE WHEN $3::boolean THEN excluded.valid_until ELSE c.valid_until END,
        connection_limit = CASE WHEN $6::boolean THEN excluded.connection_limit ELSE c.connection_limit END
    WHERE $8::boolean
RETURNING xmax = 0 AS added, valid_until, connection_limit
