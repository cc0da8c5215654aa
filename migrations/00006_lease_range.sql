-- Which workers a role may lease, if not all: see pgflurry.grant_lease().
CREATE TABLE pgflurry.lease_range (
    role    regrole   NOT NULL
        CONSTRAINT lease_range_pkey PRIMARY KEY,
    workers int4range NOT NULL
        CONSTRAINT lease_range_has_workers CHECK (NOT isempty(workers))
);

COMMENT ON TABLE pgflurry.lease_range IS
'Roles that may lease some workers only, and their members. A role without a row may lease all. '
'Written by pgflurry.grant_lease().';
COMMENT ON COLUMN pgflurry.lease_range.role IS 'The role; a new name of it changes nothing.';
COMMENT ON COLUMN pgflurry.lease_range.workers IS 'The workers, such as [100,200): from 100 to 199.';

-- What the owner grants on all his later tables (ALTER DEFAULT PRIVILEGES) is for tables of applications.
DO $do$
DECLARE
    g record;
BEGIN
    FOR g IN
        SELECT DISTINCT CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END AS grantee
        FROM pg_class AS c, aclexplode(c.relacl) AS a
        WHERE c.oid = 'pgflurry.lease_range'::regclass AND a.grantee <> c.relowner
    LOOP
        EXECUTE format('REVOKE ALL ON pgflurry.lease_range FROM %s CASCADE', g.grantee);
    END LOOP;
END $do$;


-- Down

DROP TABLE pgflurry.lease_range;
DROP FUNCTION IF EXISTS pgflurry.guard_lease_range();
