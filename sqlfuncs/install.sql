-- Writes the layout of the namespace row into the functions. It runs last, because it needs the row.
CALL pgflurry.install_next_snowflake();
-- After all sequences and tables exist.
CALL pgflurry.keep_sequences();
CALL pgflurry.keep_guards();
CALL pgflurry.install_decode();
-- Last, because an alias needs its function.
CALL pgflurry.install_aliases();
