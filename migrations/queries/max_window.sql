-- Changes how far ahead renewals may reserve. $1 microseconds
UPDATE pgflurry.namespace SET max_window = $1 * interval '1 microsecond'
