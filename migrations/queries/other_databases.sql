-- Lists the other databases of this server, but none that exists only as a template.
SELECT datname::text FROM pg_database
WHERE datname <> current_database() AND (datallowconn OR NOT datistemplate)
ORDER BY datname
