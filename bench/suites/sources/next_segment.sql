SELECT next_segment('pgflurry_bench');
