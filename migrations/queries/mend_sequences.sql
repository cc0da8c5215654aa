-- Makes unreadable sequences anew, and names them.
SELECT s::text FROM pgflurry.mend_sequences() AS s
