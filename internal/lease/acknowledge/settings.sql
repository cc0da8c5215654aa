-- Settings for this transaction only (true = local), for two reasons. Behind a transaction pooler the next transaction
-- may run on another server connection. And no setting of the role or the database may weaken an acknowledgement.
--   synchronous_commit   the commit is on disk, and on the synchronous standby if there is one,
--                        before it is acknowledged
--   client_min_messages  if the wait for that standby is cancelled, the server sends a WARNING;
--                        a higher level would hide it, and the write would look acknowledged
--   lock_timeout         if another session holds the row, the attempt ends while there is time for another one
--   statement_timeout    an attempt that the caller has given up does not run much longer
--   jit                  just-in-time compilation takes half a second, for a statement that touches one row
--   search_path          names and operators below mean those of PostgreSQL, even if a user has made others
--   session_replication_role
--                        as replica it lets triggers and foreign keys take each write for one of another database;
--                        a role that may not set it meets the guards, which say so
-- $1 lock_timeout, $2 statement_timeout (milliseconds)
SELECT pg_catalog.set_config('synchronous_commit', 'on', true),
       pg_catalog.set_config('client_min_messages', 'warning', true),
       pg_catalog.set_config('lock_timeout', $1, true),
       pg_catalog.set_config('statement_timeout', $2, true),
       pg_catalog.set_config('jit', 'off', true),
       pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true),
       CASE WHEN pg_catalog.current_setting('session_replication_role') OPERATOR(pg_catalog.=) 'replica'
                 AND pg_catalog.has_parameter_privilege('session_replication_role', 'SET')
            THEN pg_catalog.set_config('session_replication_role', 'origin', true) END;
