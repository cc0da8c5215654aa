-- $1 version
INSERT INTO pgflurry.migration (version_id, is_applied) VALUES ($1, true)
