-- Closes this database for good.
CALL pgflurry.close_database()
