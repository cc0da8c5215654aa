-- Reads whether the tables exist but no migration is recorded, as after the restore of a dump without data. Runs after
-- bootstrap.sql, which creates the table of the record.
SELECT to_regclass('pgflurry.namespace') IS NOT NULL AND NOT EXISTS (SELECT FROM pgflurry.migration)
