-- Runs before anything is written to public. See public_names.sql.
CALL pgflurry.refuse_foreign();
