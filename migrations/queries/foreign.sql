-- Lists functions in public that are not pgflurry's, but stand in the place of one that "migrate up" must install.
SELECT f FROM pgflurry.foreign_functions() AS f
