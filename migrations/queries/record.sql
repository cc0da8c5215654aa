-- Records an applied migration. $1 its number
INSERT INTO pgflurry.migration (version) VALUES ($1)
