-- In a session with session_replication_role = replica, triggers and foreign keys take each write for one that another
-- database has already checked. Restore scripts set it, and some roles have it. Here the guards must hold.
SELECT pg_catalog.set_config('session_replication_role', 'origin', false)
WHERE pg_catalog.current_setting('session_replication_role') = 'replica'
