-- Writes down that this database is the one that its namespace row is for.
CALL pgflurry.identify()
