-- Writes into the namespace row that it belongs to this database, and lets the function begin anew above its mark.
CALL pgflurry.identify()
