-- Lets the function begin with its new worker at the mark of that worker, tick %[1]d. No ID of the worker is beyond it.
-- The lanes are reset first. If the session ends between the two statements, the old marks are still far ahead of the
-- clock. Then the function waits, and no ID comes twice.
CALL pgflurry.begin_anew(false);
SELECT setval('pgflurry.mark'::regclass, %[1]d), setval('pgflurry.mark_stand_in'::regclass, %[1]d);
