CREATE TABLE pgflurry_bench.rows (id uuid PRIMARY KEY DEFAULT pgflurry.uuidv7(), payload text NOT NULL);
