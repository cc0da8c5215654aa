-- The function has a worker that nobody has drawn with beyond the mark %[1]d. First the lane: if this ends between the two, the old mark
-- holds the function up, and nothing comes twice.
SELECT setval(seqrelid, seqstart) FROM pg_sequence WHERE seqrelid = 'pgflurry.lane'::regclass;
SELECT setval('pgflurry.mark'::regclass, %[1]d);
