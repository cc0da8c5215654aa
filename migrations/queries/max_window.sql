-- How far ahead renewals may reserve from now on. $1 microseconds
UPDATE pgflurry.namespace SET max_window = $1 * interval '1 microsecond'
