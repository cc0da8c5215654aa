-- Reads all accounts, and the secret from which logins of unknown clients get their salts. One statement reads both, so
-- they are from one state of the tables. Without accounts there is one row with the secret alone.
SELECT s.secret, c.name, c.verifier, c.valid_until, c.connection_limit, c.created_at, c.changed_at
FROM pgflurry.client_secret AS s LEFT JOIN pgflurry.client AS c ON true
ORDER BY c.name
