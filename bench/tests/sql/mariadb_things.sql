-- All that somebody can leave in MariaDB, by its name.
SELECT CONCAT('MariaDB: ', table_schema, '.', table_name) FROM information_schema.tables
UNION ALL SELECT CONCAT('MariaDB: ', routine_schema, '.', routine_name, '()') FROM information_schema.routines
UNION ALL SELECT CONCAT('MariaDB: ', schema_name) FROM information_schema.schemata;
