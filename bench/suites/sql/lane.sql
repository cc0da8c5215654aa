SELECT last_value FROM pgflurry.lane;
