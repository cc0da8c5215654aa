-- How far the last ID of this database's own function is ahead of its clock, in milliseconds. NULL: the function has
-- given no ID since a crash. The function's mark is always ahead, and is not shown here.
SELECT c.ahead_ms FROM pgflurry.snowflake_clock() AS c
