-- Makes a copy a namespace of its own, also one that looks original.
CALL pgflurry.new_namespace(true)
