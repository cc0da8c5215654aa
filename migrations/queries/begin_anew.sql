-- A snapshot of a server that was stopped in order has a lane that would go on.
CALL pgflurry.begin_anew(true)
