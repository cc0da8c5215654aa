CREATE TABLE pgflurry_bench.rows (id uuid PRIMARY KEY DEFAULT pgflurry.uuidv4(), payload text NOT NULL);
