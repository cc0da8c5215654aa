-- Finds the original of this copy, if it still exists on this server. It may have been renamed.
-- If the server hides its system identifier, the name must match as well: a database on another server may have the
-- same oid.
SELECT d.datname::text, d.oid
FROM pg_database AS d JOIN pgflurry.namespace AS n ON d.oid = n.database_oid
WHERE d.datname <> current_database()
  AND CASE WHEN n.system_identifier IS NULL OR pgflurry.system_identifier() IS NULL THEN d.datname = n.database_name
           ELSE n.system_identifier = pgflurry.system_identifier() END
