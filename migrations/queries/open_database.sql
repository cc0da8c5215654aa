-- Opens a closed database, in two transactions: the first changes the row, the second the sequence.
CALL pgflurry.open_database()
