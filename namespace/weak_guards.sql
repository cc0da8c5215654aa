-- Names the guards that are missing, or that do not hold in every session. Empty: all hold.
SELECT coalesce(pg_catalog.string_agg(g, ', ' ORDER BY g), '') FROM pgflurry.weak_guards() AS g
