SELECT pgflurry.next_auto_increment('pgflurry_bench');
