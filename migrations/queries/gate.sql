-- The original may have granted and marked after this copy was taken; what it granted ends within a quarantine.
UPDATE pgflurry.namespace
SET acquire_after = greatest(acquire_after, pgflurry.ticks(clock_timestamp() + quarantine))
