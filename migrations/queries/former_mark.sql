-- Raises the marks of the function and of its stand-in to the mark of the worker's row. The former holder of the worker
-- may have issued IDs up to there.
-- $1 mark of the worker's row
SELECT setval('pgflurry.mark'::regclass, greatest($1, m.last_value)),
       setval('pgflurry.mark_stand_in'::regclass, greatest($1, s.last_value))
FROM pgflurry.mark AS m, pgflurry.mark_stand_in AS s WHERE least(m.last_value, s.last_value) < $1
