-- Writes the layout of the namespace row into the functions. It runs last, because it needs the row.
CALL pgflurry.install_next_snowflake();
-- After all sequences exist.
CALL pgflurry.keep_sequences();
CALL pgflurry.install_decode();
-- Last, because an alias needs its function.
CALL pgflurry.install_aliases();
