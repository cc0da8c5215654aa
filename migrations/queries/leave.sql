-- Nothing of this session stays where a pooler in transaction mode gives it to another client.
RESET ALL;
SELECT pg_catalog.pg_advisory_unlock_all();
