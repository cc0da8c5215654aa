-- Reads the server's clock.
SELECT clock_timestamp()
