-- Sets when a client's access ends. Returns no row if there is no such client.
-- $1 name, $2 the end, $3 seconds from now to the end, used if $2 is NULL (both NULL: the access never ends)
UPDATE pgflurry.client
SET valid_until = coalesce($2::timestamptz, clock_timestamp() + make_interval(secs => $3::float8))
WHERE name = $1::text
RETURNING valid_until, valid_until <= clock_timestamp()
