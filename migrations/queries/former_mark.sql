-- The function, and its stand-in, go on where the former holder of the worker may have ended.
-- $1 mark of the worker's row
SELECT setval('pgflurry.mark'::regclass, greatest($1, m.last_value)),
       setval('pgflurry.mark_stand_in'::regclass, greatest($1, s.last_value))
FROM pgflurry.mark AS m, pgflurry.mark_stand_in AS s WHERE least(m.last_value, s.last_value) < $1
