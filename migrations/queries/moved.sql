-- Closes the gate of a database that replaces a lost one, or that was set back. Leases may exist that these rows do not
-- show. All of them end within one quarantine. There may also be databases that have joined and are not in these rows.
-- So no other database may join until the operator says that all claims are known.
UPDATE pgflurry.namespace
SET acquire_after = greatest(acquire_after, pgflurry.ticks(clock_timestamp() + quarantine)), joins_complete_on = NULL
