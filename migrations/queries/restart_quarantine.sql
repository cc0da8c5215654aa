-- Changes how long no worker is granted after a start of the server. Only in a home. $1 microseconds (NULL: as the
-- windows need it)
UPDATE pgflurry.namespace SET restart_quarantine = $1::bigint * interval '1 microsecond' WHERE home IS NULL
