-- Which workers a role may lease: see pgflurry.grant_lease(). A role without a row may lease none, so a restore that
-- loses rows gives no role more than it had.
CREATE TABLE pgflurry.lease_range (
    role    regrole   NOT NULL
        CONSTRAINT lease_range_pkey PRIMARY KEY,
    workers int4range NOT NULL
        CONSTRAINT lease_range_has_workers CHECK (NOT isempty(workers))
);

COMMENT ON TABLE pgflurry.lease_range IS
'Which workers a role, and each member of it, may lease. Without a row: none. The owner of the schema may lease all. '
'Written by pgflurry.grant_lease().';
COMMENT ON COLUMN pgflurry.lease_range.role IS 'The role; a new name of it changes nothing.';
COMMENT ON COLUMN pgflurry.lease_range.workers IS 'The workers, such as [100,200): from 100 to 199; (,): all.';

-- Roles that could lease before.
INSERT INTO pgflurry.lease_range
SELECT DISTINCT granted.grantee, int4range(NULL, NULL)
FROM (SELECT (aclexplode(relacl)).* FROM pg_class WHERE oid = 'pgflurry.worker'::regclass
      UNION ALL
      SELECT (aclexplode(attacl)).* FROM pg_attribute
      WHERE attrelid = 'pgflurry.worker'::regclass AND attname = 'reserved_until') AS granted
JOIN pg_roles AS r ON r.oid = granted.grantee
WHERE granted.privilege_type = 'UPDATE'
  AND r.oid <> (SELECT relowner FROM pg_class WHERE oid = 'pgflurry.worker'::regclass);

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
