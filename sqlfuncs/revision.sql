-- Which revision is installed here. The numbers stand in function texts, because these survive in a dump of the schema
-- alone, and rows do not. Files fills in the first one.

CREATE OR REPLACE FUNCTION pgflurry.revision() RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT %d';
COMMENT ON FUNCTION pgflurry.revision() IS
'Revision of schema pgflurry: the number of its last migration. '
'A program that knows only an older one changes nothing here.';

CREATE OR REPLACE FUNCTION pgflurry.leases_from() RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT 1';
COMMENT ON FUNCTION pgflurry.leases_from() IS
'The oldest revision that a program must know to keep leases here.';
