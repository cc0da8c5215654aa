-- Which version of the program installs the functions: an older program names it in its refusal.
-- $1 version, NULL: not told
UPDATE pgflurry.namespace SET installed_by = $1 WHERE installed_by IS DISTINCT FROM $1
