-- Nobody but the owner draws from pgflurry's sequences, or sets them: see Rights in next_snowflake.sql,
-- whose third point would fall. A role gets such rights without anybody's noticing where the owner's ALTER DEFAULT
-- PRIVILEGES grants them on all sequences, as those that are made for an application often do.

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
'Takes the rights to draw from the sequences of schema pgflurry, and to set them, from everybody but their owner. '
'May be run again at any time.';
