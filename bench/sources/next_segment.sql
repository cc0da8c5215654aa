SELECT next_segment('bench');
