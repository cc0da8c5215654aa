-- The clock of the server.
SELECT clock_timestamp()
