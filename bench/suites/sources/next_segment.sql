SELECT pgflurry.next_segment('pgflurry_bench');
