SELECT pgflurry.next_replace_id('pgflurry_bench');
