DROP TABLE pgflurry.migration;
DROP SCHEMA pgflurry;
