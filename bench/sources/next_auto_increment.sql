SELECT pgflurry.next_auto_increment('bench');
