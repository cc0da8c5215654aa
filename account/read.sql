-- Everything that a login needs, in one statement, so that it is of one moment: the secret of mocks, and each account.
-- Without accounts there is one row with the secret alone.
SELECT s.secret, c.name, c.verifier, c.valid_until, c.connection_limit, c.created_at, c.changed_at
FROM pgflurry.client_secret AS s LEFT JOIN pgflurry.client AS c ON true
ORDER BY c.name
