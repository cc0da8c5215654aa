-- Records what the operator says with --joins-complete: every database that has joined has its claim in these rows. It
-- holds in this life of the server: after the next failover or restart the home may have forgotten a claim again.
UPDATE pgflurry.namespace SET joins_complete_on = pgflurry.server_life() WHERE home IS NULL
