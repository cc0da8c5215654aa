-- Makes a copy a namespace of its own. true: even if it looks like an original, as a copy of a server's files does.
CALL pgflurry.new_namespace(true)
