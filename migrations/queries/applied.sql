-- Migrations that were applied, and when.
SELECT version, applied_at FROM pgflurry.migration
