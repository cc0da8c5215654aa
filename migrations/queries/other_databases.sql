-- Lists the other databases of this server that accept connections.
SELECT datname::text FROM pg_database WHERE datallowconn AND datname <> current_database()
