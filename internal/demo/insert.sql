-- PostgreSQL evaluates the default of the column, so the function in the database makes this ID.
INSERT INTO demo_order DEFAULT VALUES RETURNING id;
