-- Removes a client.
-- $1 name
DELETE FROM pgflurry.client WHERE name = $1::text
