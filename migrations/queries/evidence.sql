-- Reads what can be known of the original of this copy. Columns: whether the copy was made after its original was
-- closed; whether the original was on this server; name and OID of the original, if its database is still there.
-- If the server hides its system identifier, another server's database may have the same OID. Then the name must match
-- as well, and nothing shows that the original was on this server.
SELECT n.closed_at IS NOT NULL,
       coalesce(n.system_identifier = pgflurry.system_identifier(), false),
       coalesce(d.datname::text, ''), coalesce(d.oid, 0)
FROM pgflurry.namespace AS n LEFT JOIN pg_database AS d
    ON d.oid = n.database_oid AND d.datname <> current_database()
   AND CASE WHEN n.system_identifier IS NULL OR pgflurry.system_identifier() IS NULL THEN d.datname = n.database_name
            ELSE n.system_identifier = pgflurry.system_identifier() END
