-- Writes the layout of the namespace row into the functions. Runs last, when the row is there.
CALL pgflurry.install_next_snowflake();
-- When all sequences are there.
CALL pgflurry.keep_sequences();
CALL pgflurry.install_decode();
-- Last, because an alias needs the function that it names.
CALL pgflurry.install_aliases();
