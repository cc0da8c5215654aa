-- The number of the last migration that was applied; 0: none was.
SELECT coalesce(max(version), 0) FROM pgflurry.migration
