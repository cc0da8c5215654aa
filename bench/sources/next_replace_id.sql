SELECT pgflurry.next_replace_id('bench');
