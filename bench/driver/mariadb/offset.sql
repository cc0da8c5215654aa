SET SESSION auto_increment_increment = 2, auto_increment_offset = 1;
