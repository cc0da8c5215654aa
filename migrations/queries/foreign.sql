-- Functions in public that stand where pgflurry's own must be.
SELECT f FROM pgflurry.foreign_functions() AS f
