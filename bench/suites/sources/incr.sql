SELECT pgflurry.incr('pgflurry_bench');
