-- Migrations that were applied, with the time of the last application.
SELECT version_id, max(tstamp) FROM pgflurry.migration WHERE version_id > 0 AND is_applied GROUP BY version_id
