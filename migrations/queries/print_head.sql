-- pgflurry, layout %s
-- Made by "pgflurry migrate print": the same as "pgflurry migrate up" makes in an empty database.
-- Run it in one transaction, on PostgreSQL 15 or newer, for example: psql -1 -v ON_ERROR_STOP=1 -f THIS-FILE
-- Later versions: "pgflurry migrate up" goes on from here.

SET LOCAL search_path = pg_catalog, pg_temp;
-- no notice of what is not there yet
SET LOCAL client_min_messages = warning;
