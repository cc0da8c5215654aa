-- Reads the number of the last applied migration (0: none).
SELECT coalesce(max(version), 0) FROM pgflurry.migration
