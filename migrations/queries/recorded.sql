-- Whether the record of the migrations exists: a schema may have been made by hand.
SELECT to_regclass('pgflurry.migration') IS NOT NULL
