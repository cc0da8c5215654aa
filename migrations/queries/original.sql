-- The database this row was written in, if it still is on this server; its name may have changed since.
-- A server that does not tell its identity cannot be compared, and there the name must fit as well:
-- another server's database may have the same oid.
SELECT d.datname::text, d.oid
FROM pg_database AS d JOIN pgflurry.namespace AS n ON d.oid = n.database_oid
WHERE d.datname <> current_database()
  AND CASE WHEN n.system_identifier IS NULL OR pgflurry.system_identifier() IS NULL THEN d.datname = n.database_name
           ELSE n.system_identifier = pgflurry.system_identifier() END
