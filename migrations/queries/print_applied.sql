INSERT INTO pgflurry.migration (version) VALUES (%d);
END IF;
