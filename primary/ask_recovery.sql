-- The same of a server that does not tell its timeline either.
SELECT pg_catalog.pg_is_in_recovery(), NULL::pg_catalog.text, NULL::pg_catalog.int8
