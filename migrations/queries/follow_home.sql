-- Copies the time limits of the home into a joined database, and where the home is: it may have been renamed.
-- $1 max_window, $2 skew, $3 quarantine, microseconds, $4 home
UPDATE pgflurry.namespace
SET max_window = $1 * interval '1 microsecond', skew = $2 * interval '1 microsecond',
    quarantine = $3 * interval '1 microsecond', home = $4
