-- Lets a database draw that came from the dump of a closed one. Its row says by now what it is. It runs after that is
-- committed: no database draws while its row says that it is closed.
CALL pgflurry.end_closing()
