-- Lists names that have no alias in public, because another function has them, and that function.
SELECT name, other FROM pgflurry.kept_names()
