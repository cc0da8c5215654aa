-- What is installed here. Numbers in function texts, because they also survive where the rows do not: in a dump of the
-- schema alone. The first is filled in by Files.

CREATE OR REPLACE FUNCTION pgflurry.revision() RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT %d';
COMMENT ON FUNCTION pgflurry.revision() IS
'Revision of schema pgflurry: the number of its last migration. '
'A program that knows only an older one changes nothing here.';

CREATE OR REPLACE FUNCTION pgflurry.serves_from() RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT 1';
COMMENT ON FUNCTION pgflurry.serves_from() IS
'The oldest revision that a program must know to keep leases here.';
