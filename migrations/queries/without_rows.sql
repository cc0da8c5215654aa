-- Whether the tables are there and nothing says by which migrations. Runs behind bootstrap.sql, which makes an empty
-- schema.
SELECT to_regclass('pgflurry.namespace') IS NOT NULL AND NOT EXISTS (SELECT FROM pgflurry.migration)
