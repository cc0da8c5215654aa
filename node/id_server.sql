-- Whether the server has a database of this name: the ID database would hide it.
SELECT EXISTS (SELECT FROM pg_catalog.pg_database WHERE datname = $1::text)
