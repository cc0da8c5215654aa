-- The function goes on where the former holder of its worker may have ended. $1 mark of the worker's row
SELECT setval('pgflurry.mark'::regclass, $1) FROM pgflurry.mark WHERE last_value < $1
