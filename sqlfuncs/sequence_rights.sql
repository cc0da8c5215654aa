-- Only the owner may draw from pgflurry's sequences, or set them. Otherwise the third point of next_snowflake.sql
-- falls; see Rights there. A role can get such rights unnoticed: ALTER DEFAULT PRIVILEGES of the owner may grant them
-- on all sequences, and often does so for an application's role.

CREATE OR REPLACE PROCEDURE pgflurry.keep_sequences()
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $fn$
DECLARE
    g record;
BEGIN
    FOR g IN
        SELECT DISTINCT c.relname,
               CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END AS grantee
        FROM pg_class AS c, aclexplode(c.relacl) AS a
        WHERE c.relnamespace = 'pgflurry'::regnamespace AND c.relkind = 'S'
          AND a.grantee <> c.relowner AND a.privilege_type IN ('USAGE', 'UPDATE')
    LOOP
        EXECUTE format('REVOKE USAGE, UPDATE ON SEQUENCE pgflurry.%I FROM %s CASCADE', g.relname, g.grantee);
    END LOOP;
END $fn$;
COMMENT ON PROCEDURE pgflurry.keep_sequences() IS
'Revokes the rights to draw from the sequences of schema pgflurry, and to set them, from all roles except the owner. '
'May be run again at any time.';
