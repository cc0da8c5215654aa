-- Reads whether the server has a database with the name of the ID database. Clients of the proxy could not reach it.
SELECT EXISTS (SELECT FROM pg_catalog.pg_database WHERE datname = $1::text)
