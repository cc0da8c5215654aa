INSERT INTO pgflurry.migration (version_id, is_applied) VALUES (%d, true);
