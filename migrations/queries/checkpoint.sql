-- So that a standby can make a restartpoint behind what was just made.
CHECKPOINT
