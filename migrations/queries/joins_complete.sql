-- Records what the operator says with --joins-complete: every database that has joined has its claim in these rows. It
-- holds on this timeline: after the next failover the home may have forgotten a claim again.
UPDATE pgflurry.namespace SET joins_complete_on = coalesce(pgflurry.wal_timeline(), '') WHERE home IS NULL
