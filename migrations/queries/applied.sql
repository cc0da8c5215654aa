-- Lists the applied migrations, and when each was applied.
SELECT version, applied_at FROM pgflurry.migration
