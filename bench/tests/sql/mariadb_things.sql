-- Lists all tables, routines and databases of MariaDB by name. The test compares the lists before and after a run.
SELECT CONCAT('MariaDB: ', table_schema, '.', table_name) FROM information_schema.tables
UNION ALL SELECT CONCAT('MariaDB: ', routine_schema, '.', routine_name, '()') FROM information_schema.routines
UNION ALL SELECT CONCAT('MariaDB: ', schema_name) FROM information_schema.schemata;
