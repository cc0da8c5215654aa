-- Somebody has said that no database has joined but those whose claims stand here.
UPDATE pgflurry.namespace SET joins_complete_on = coalesce(pgflurry.wal_timeline(), '') WHERE home IS NULL
