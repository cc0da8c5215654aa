-- $1 version
INSERT INTO pgflurry.migration (version) VALUES ($1)
