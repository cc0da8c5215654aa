-- Names of pgflurry's functions that have no alias in public, and another function that has the name.
SELECT name, other FROM pgflurry.kept_names()
