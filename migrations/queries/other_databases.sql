-- The other databases of this server that let anybody in.
SELECT datname::text FROM pg_database WHERE datallowconn AND datname <> current_database()
