-- Reads which version of the program installed the functions last.
SELECT installed_by FROM pgflurry.namespace
