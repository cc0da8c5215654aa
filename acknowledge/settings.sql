-- Settings for this transaction only (true = local): behind a transaction pooler the next transaction may run on
-- another server connection, and whatever the role or the database says must not weaken an acknowledgement.
--   synchronous_commit   the commit is on disk, and on the synchronous standby if there is one,
--                        before it is acknowledged
--   client_min_messages  a cancelled wait for that standby shows as a WARNING; without it the answer looks clean
--   lock_timeout         a row locked by somebody else ends the attempt while there is time for another
--   statement_timeout    an attempt that was given up does not go on for long
--   jit                  compiling a statement that touches one row costs half a second
--   search_path          names and operators below mean PostgreSQL's own, whoever else made some
-- $1 lock_timeout, $2 statement_timeout (milliseconds)
SELECT pg_catalog.set_config('synchronous_commit', 'on', true),
       pg_catalog.set_config('client_min_messages', 'warning', true),
       pg_catalog.set_config('lock_timeout', $1, true),
       pg_catalog.set_config('statement_timeout', $2, true),
       pg_catalog.set_config('jit', 'off', true),
       pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
