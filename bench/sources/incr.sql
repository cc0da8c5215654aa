SELECT pgflurry.incr('bench');
