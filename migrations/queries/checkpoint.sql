-- A standby makes a restartpoint only at a checkpoint of the primary. This checkpoint comes after the new sequences, so
-- the next restartpoint writes them to the standby's disk, where a promotion finds them.
CHECKPOINT
