-- Records which version of the program installs the functions. If an older program refuses to run, it names this one.
-- $1 version (NULL: unknown)
UPDATE pgflurry.namespace SET installed_by = $1 WHERE installed_by IS DISTINCT FROM $1
