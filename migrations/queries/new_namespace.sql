-- Makes a copy a namespace of its own. true: even if it looks like an original, as a copy of a server's files does.
-- $1 the highest ID that the database holds (NULL: the columns with the function's default are read)
CALL pgflurry.new_namespace(true, $1)
