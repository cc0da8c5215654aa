-- The function has a worker that nobody has drawn with beyond the mark %[1]d.
-- First the lanes: if this ends between the two, the old marks hold the function up, and nothing comes twice.
CALL pgflurry.begin_anew(false);
SELECT setval('pgflurry.mark'::regclass, %[1]d), setval('pgflurry.mark_stand_in'::regclass, %[1]d);
