-- Cleans up the session: behind a pooler in transaction mode, another client may get it next.
RESET ALL;
SELECT pg_catalog.pg_advisory_unlock_all();
