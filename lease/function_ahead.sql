-- How far the last ID of this database's own function is ahead of its clock, in milliseconds. NULL: there was none
-- since a crash. Its mark, which is always ahead, is not meant.
SELECT c.ahead_ms FROM pgflurry.snowflake_clock() AS c
