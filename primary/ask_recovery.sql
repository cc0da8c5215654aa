-- The question for a server that shows neither its timeline nor its system identifier.
SELECT pg_catalog.pg_is_in_recovery(), NULL::pg_catalog.text, NULL::pg_catalog.int8
