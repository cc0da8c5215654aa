-- Reads whether the record of the migrations exists. If somebody created the schema by hand, it does not.
SELECT to_regclass('pgflurry.migration') IS NOT NULL
