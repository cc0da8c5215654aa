IF NOT EXISTS (SELECT FROM pgflurry.migration WHERE version = %d) THEN
