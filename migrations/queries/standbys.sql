-- Reads whether this server has standbys, connected or with a slot, and whether this role may run CHECKPOINT. A logical
-- subscription is no standby.
SELECT EXISTS (SELECT FROM pg_stat_replication AS r LEFT JOIN pg_replication_slots AS s ON s.active_pid = r.pid
               WHERE s.slot_type IS DISTINCT FROM 'logical')
           OR EXISTS (SELECT FROM pg_replication_slots WHERE slot_type = 'physical'),
       pg_has_role('pg_checkpoint', 'USAGE'),
       current_setting('checkpoint_timeout')
