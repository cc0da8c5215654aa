-- PostgreSQL evaluates the default, so the function in the database answers.
INSERT INTO demo_order DEFAULT VALUES RETURNING id;
