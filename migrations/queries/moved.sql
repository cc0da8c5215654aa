-- The original may have granted and marked after this copy was taken; what it granted ends within a quarantine.
-- It may have given workers to databases that joined, which this copy has forgotten.
UPDATE pgflurry.namespace
SET acquire_after = greatest(acquire_after, pgflurry.ticks(clock_timestamp() + quarantine)), joins_complete_on = NULL
