-- What decides which ID space a database belongs to, and what changes the settings of one.

-- name: begin_anew
-- In a restored database the function begins anew, above every ID that it may have issued. Otherwise it could continue
-- where the backup stood: a snapshot of a server that was shut down cleanly keeps the unlogged sequence pgflurry.lane.
-- true: IDs that exist here may be from the clock of another server.
CALL pgflurry.begin_anew(true);

-- name: close_patience
-- Limits the wait for each lock of the transaction. Renewals queue behind the locks that it waits for.
-- $1 such as 5000ms
SELECT set_config('lock_timeout', $1, true);

-- name: close_database
-- Closes this database for good.
CALL pgflurry.close_database();

-- name: close_gate
-- A failover that no lease has noticed yet may have forgotten grants. They are over within a quarantine. Runs under the
-- locks of close_database().
UPDATE pgflurry.namespace
SET timeline = pgflurry.wal_timeline(),
    acquire_after = greatest(acquire_after, pgflurry.ticks(clock_timestamp() + quarantine))
WHERE home IS NULL AND timeline IS DISTINCT FROM pgflurry.wal_timeline() AND pgflurry.wal_timeline() IS NOT NULL;

-- name: close_blockers
-- Lists who holds what close_database() waits for, the longest transaction first: PIDs, and names of prepared
-- transactions. $1 key of the lock of the migrations
SELECT coalesce('PID ' || l.pid, 'prepared transaction ' || p.gid, 'a prepared transaction')
FROM pg_locks AS l
LEFT JOIN pg_stat_activity AS a ON a.pid = l.pid
LEFT JOIN pg_prepared_xacts AS p ON l.pid IS NULL AND l.virtualtransaction = '-1/' || p.transaction
WHERE l.granted AND l.pid IS DISTINCT FROM pg_backend_pid()
  AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND (l.locktype = 'advisory' AND ((l.classid::bigint << 32) | l.objid::bigint) = $1
       OR l.locktype = 'relation' AND l.mode NOT IN ('AccessShareLock', 'RowShareLock')
          AND l.relation = ANY ('{pgflurry.namespace,pgflurry.worker,pgflurry.segment,pgflurry.auto_increment,'
              'pgflurry.replace_sequence,pgflurry.counter,pgflurry.token,pgflurry.lock,'
              'pgflurry.function_lock,pgflurry.function_lock_stand_in}'::regclass[]))
GROUP BY 1 ORDER BY min(a.xact_start);

-- name: closing
-- Reads whether this database is closed, and until when grants may be in use.
-- Columns: whether it is closed, generation, since when, when the last grant is over (NULL: no proxy leases here),
-- milliseconds until then, and how many leases are in use.
-- A grant ends at its mark, which may be by the clock of another server. The rows may lack grants that a failover or a
-- restore has forgotten: those end before the gate opens. A server that has just started may have forgotten some, too.
WITH ends AS (
    SELECT n.*,
           (SELECT count(*) FROM pgflurry.worker AS w
            WHERE w.kind = 'proxy' AND w.term > 0 AND w.released_at IS NULL
              AND w.reserved_until > pgflurry.ticks(clock_timestamp())) AS leases,
           CASE WHEN n.home IS NULL THEN
               n.skew + greatest(
                   n.epoch + n.acquire_after * n.unit,
                   (SELECT n.epoch + max(w.reserved_until) * n.unit FROM pgflurry.worker AS w
                    WHERE w.kind = 'proxy' AND w.term > 0 AND w.released_at IS NULL),
                   CASE WHEN n.born IS DISTINCT FROM s.started AND n.restart_quarantine IS DISTINCT FROM '0'
                        THEN s.started + coalesce(n.restart_quarantine, n.max_window + 2 * n.skew) END)
           END AS over
    FROM pgflurry.namespace AS n, pg_postmaster_start_time() AS s (started)
)
SELECT pgflurry.is_closed(), e.generation, e.closed_at, e.over,
       greatest(0, ceil(extract(epoch FROM e.over - clock_timestamp()) * 1000))::bigint, e.leases
FROM ends AS e;

-- name: take_worker
-- Gives the function of this database another worker. $1 worker, $2 claim
UPDATE pgflurry.namespace SET function_worker = $1, claim = $2;

-- name: leave_lanes
-- Lets the function begin anew, with the marks as they are. Run in the transaction that gives it another worker.
-- The lanes may be in a tick that the clock reaches in a year. With the rest of such a tick the new worker would give
-- IDs beyond its own mark. The locks wait for sessions that are starting a tick. Nobody starts another with the old
-- text until the transaction ends.
LOCK TABLE pgflurry.function_lock, pgflurry.function_lock_stand_in IN SHARE UPDATE EXCLUSIVE MODE;
CALL pgflurry.begin_anew(false);

-- name: function_mark
-- Reads how far the function has got: no ID of the function at or after this tick exists.
-- The locks wait for sessions that are starting a tick. Then nobody starts another until the transaction ends.
LOCK TABLE pgflurry.function_lock, pgflurry.function_lock_stand_in IN SHARE UPDATE EXCLUSIVE MODE;
SELECT greatest(m.last_value, s.last_value) FROM pgflurry.mark AS m, pgflurry.mark_stand_in AS s;

-- name: begin_at_mark
-- Lets the function begin with its new worker at the mark of that worker, tick %[1]d. No ID of the worker is beyond it.
-- Tokens of locks must not fall with the IDs. So first of all they get a floor: no ID of the former worker is at or
-- after its mark, tick %[2]d.
-- The function sees that something else has moved its marks, and begins anew. If the session ends between the two, the
-- stand-in waits for its old mark.
SELECT setval('pgflurry.fencing_floor'::regclass, greatest(f.last_value,
           (%[2]d::bigint - 1) << b.bits | (1::bigint << b.bits) - 1))
FROM pgflurry.fencing_floor AS f, pgflurry.namespace AS n,
     LATERAL (SELECT n.datacenter_bits + n.worker_bits + n.sequence_bits AS bits) AS b;
SELECT setval('pgflurry.mark'::regclass, %[1]d), setval('pgflurry.mark_stand_in'::regclass, %[1]d);

-- name: under_way
-- Lists the open transactions of the other sessions in this database.
SELECT l.virtualtransaction
FROM pg_locks AS l JOIN pg_stat_activity AS a ON a.pid = l.pid
WHERE l.locktype = 'virtualxid' AND l.granted AND a.datname = current_database() AND l.pid <> pg_backend_pid();

-- name: still_under_way
-- Finds the sessions (PIDs) that still run one of these transactions. $1 virtual transaction IDs
SELECT coalesce(array_agg(DISTINCT pid), '{}') FROM pg_locks
WHERE locktype = 'virtualxid' AND virtualtransaction = ANY ($1::text[]);

-- name: gate
-- Reads how long the gate stays closed (milliseconds), until when, and who closed it last (empty: not known).
SELECT greatest(0, ceil(extract(epoch FROM g.opens - clock_timestamp()) * 1000))::bigint, g.opens,
       coalesce(n.gate_by, '')
FROM pgflurry.namespace AS n, LATERAL (SELECT n.epoch + n.acquire_after * n.unit AS opens) AS g;

-- name: open_gate
-- Opens the gate. The owner of the schema alone may do that.
UPDATE pgflurry.namespace SET acquire_after = 0 WHERE home IS NULL AND pgflurry.is_original();

-- name: claim
-- Gives a worker to the function of a database that joins, for good. Runs in the home, the database with the worker
-- rows. The worker was never used, or was given back, and its mark has passed. The first worker for functions is never
-- given to a database that joins: if a region is lost and made anew, its function begins with that one.
-- The mark goes to the function, which begins after it: the joining database's server may have another clock.
-- Returns no row if no worker is free, if the home may have forgotten a claim (failover, restore, reseed), or if this
-- is not the original of namespace $4.
-- $1 name of the database, $2 address, $3 version, $4 namespace
UPDATE pgflurry.worker
SET owner = gen_random_uuid(), term = term + 1, node = $1, address = $2, version = $3,
    acquired_at = clock_timestamp(), released_at = NULL
WHERE worker = (SELECT worker FROM pgflurry.worker
                WHERE kind = 'database' AND retired_at IS NULL AND (term = 0 OR released_at IS NOT NULL)
                  AND worker > (SELECT lower(function_workers) FROM pgflurry.namespace)
                  AND reserved_until <= pgflurry.ticks(clock_timestamp())
                ORDER BY term > 0, worker LIMIT 1 FOR UPDATE SKIP LOCKED)
  AND (term = 0 OR released_at IS NOT NULL)
  AND (SELECT id FROM pgflurry.namespace) = $4::uuid AND pgflurry.is_original()
  AND pgflurry.joins_are_known() AND NOT pgflurry.is_closed()
RETURNING worker, reserved_until, owner::text;

-- name: claimed
-- Reads why the home gave no worker, for the error message. Columns:
--  - who holds the database workers
--  - whether the home knows every database that has joined
--  - milliseconds until the first unclaimed worker is free, because its mark has passed (NULL: all are claimed)
SELECT coalesce(string_agg(format('%s %s', w.worker,
               CASE w.worker WHEN n.function_worker THEN current_database() ELSE w.node END), ', ' ORDER BY w.worker)
           FILTER (WHERE w.term > 0 AND w.released_at IS NULL), 'none'),
       pgflurry.joins_are_known(),
       (extract(epoch FROM (
           min(w.reserved_until) FILTER (WHERE w.retired_at IS NULL AND (w.term = 0 OR w.released_at IS NOT NULL)
                                           AND w.worker > lower(n.function_workers))
               - pgflurry.ticks(clock_timestamp())) * n.unit) * 1000)::bigint
FROM pgflurry.worker AS w, pgflurry.namespace AS n WHERE w.kind = 'database' GROUP BY n.unit;

-- name: reclaim
-- Compares the claim of a joined database with the row of its worker. Runs in the home.
--
-- It updates the row in three cases: a failover or an old backup has forgotten the claim, the database has another
-- name, or $6 says that it takes the place of its original. That may be at another address only with $8. Then the row
-- gets a new claim. So a second copy of the database cannot use the old claim to move to the same worker. If a worker
-- was retired or given back, no claim to it counts.
--
-- Columns:
--  - whether the row has this claim
--  - whether the claim was made from this address, or $8 lets it move
--  - whether the row was updated, if one of the three cases holds
--  - name, address and time, as the row had them before
--  - the claim that is valid from now on
-- Returns no row if the home has no such worker, or is no longer the original of namespace $7.
--
-- $1 worker, $2 claim, $3 name of the database, $4 address, $5 version, $6 moved, $7 namespace,
-- $8 from another address
WITH before AS (
    SELECT worker, term, owner, node, address, acquired_at, released_at, retired_at
    FROM pgflurry.worker
    WHERE worker = $1 AND kind = 'database'
      AND (SELECT id FROM pgflurry.namespace) = $7::uuid AND pgflurry.is_original() AND NOT pgflurry.is_closed()
    FOR UPDATE
), judged AS (
    SELECT *,
           term = 0 AND retired_at IS NULL AS forgotten,
           released_at IS NULL AND retired_at IS NULL AND owner = $2::uuid AS ours,
           -- only the server is compared: a renamed database is still the same, and a copy is on another server
           split_part(address, '/', 1) IS NOT DISTINCT FROM split_part($4, '/', 1) AS here
    FROM before
), due AS (
    SELECT *, forgotten OR ours AND ($6 AND (here OR $8) OR here AND node IS DISTINCT FROM $3) AS changes FROM judged
), written AS (
    UPDATE pgflurry.worker AS w
    SET owner = CASE WHEN $6 THEN gen_random_uuid() ELSE $2::uuid END,
        term = w.term + 1, node = $3, address = $4, version = $5, acquired_at = clock_timestamp()
    FROM due
    WHERE w.worker = due.worker AND due.changes
    RETURNING w.owner
)
SELECT forgotten OR coalesce(ours, false), forgotten OR here OR $8,
       changes IS NOT TRUE OR EXISTS (SELECT FROM written),
       coalesce(node, ''), coalesce(address, ''), acquired_at,
       coalesce((SELECT owner FROM written), $2::uuid)::text
FROM due;

-- name: give_back
-- Records that a database no longer uses its worker. Runs in the home. The worker is retired, so no other database gets
-- it. A standby or an old backup of the former holder may return and draw with it.
-- $1 worker, $2 claim, $3 mark of the function
UPDATE pgflurry.worker AS w
SET reserved_until = greatest(w.reserved_until, $3::bigint),
    released_at = clock_timestamp(), retired_at = clock_timestamp()
WHERE w.worker = $1 AND w.kind = 'database' AND w.owner = $2::uuid;

-- name: create_joined
-- Makes the namespace row of a database that joins. The worker rows stay in its home.
-- $1 ... $4 bits of timestamp, datacenter, worker, sequence, $5 epoch, $6 unit (ms), $7 database workers, $8 id,
-- $9 own worker, $10 home, $11 claim, $12 region, $13 foreign workers
CALL pgflurry.create_namespace($8, $1, $2, $3, $4, $5, $6 * interval '1 ms', $7, $9, $10, $11,
    new_region => $12, new_foreign_workers => $13::text::int4multirange);

-- name: follow_home
-- Copies what may have changed in the home into a joined database: time limits, and the home's name.
-- $1 max_window, $2 skew, $3 quarantine, microseconds, $4 home
UPDATE pgflurry.namespace
SET max_window = $1 * interval '1 microsecond', skew = $2 * interval '1 microsecond',
    quarantine = $3 * interval '1 microsecond', home = $4;

-- name: former_mark
-- Raises the marks of the function and of its stand-in to the mark of the worker's row. The former holder of the worker
-- may have issued IDs up to there.
-- $1 mark of the worker's row
SELECT setval('pgflurry.mark'::regclass, greatest($1, m.last_value)),
       setval('pgflurry.mark_stand_in'::regclass, greatest($1, s.last_value))
FROM pgflurry.mark AS m, pgflurry.mark_stand_in AS s WHERE least(m.last_value, s.last_value) < $1;

-- name: join_copy
-- Lets a database that has IDs already join its namespace, with a worker of its own. If it has worker rows, they are
-- copies of the home's rows. They are retired here, so that nobody gets a lease from them.
-- $1 own worker, $2 home, $3 claim
WITH retired AS (
    UPDATE pgflurry.worker SET retired_at = clock_timestamp() WHERE retired_at IS NULL
)
UPDATE pgflurry.namespace SET function_worker = $1, home = $2, claim = $3, joins_complete_on = NULL;

-- name: joins_complete
-- Records what the operator says with --joins-complete: every database that has joined has its claim in these rows. It
-- holds in this life of the server: after the next failover or restart the home may have forgotten a claim again.
UPDATE pgflurry.namespace SET joins_complete_on = pgflurry.server_life() WHERE home IS NULL;

-- name: take_claim
-- Stores the claim that the home has recorded for this database last. $1 claim
UPDATE pgflurry.namespace SET claim = $1::uuid;

-- name: moved
-- Closes the gate of a database that replaces a lost one, or that was set back. Leases may exist that these rows do not
-- show. All of them end within one quarantine. There may also be databases that have joined and are not in these rows.
-- So no other database may join until the operator says that all claims are known.
UPDATE pgflurry.namespace
SET acquire_after = greatest(acquire_after, pgflurry.ticks(clock_timestamp() + quarantine)), joins_complete_on = NULL;

-- name: evidence
-- Reads what can be known of the original of this copy. Columns: whether the original was on this server; name and OID
-- of the original, if its database is still there. $1 the addresses by which this server is reached
-- A copy of a server's files has its system identifier, too. But the row knows its server by start and address.
-- If the server hides its system identifier, another server's database may have the same OID. Then the name must match
-- as well, and nothing shows that the original was on this server.
SELECT coalesce(n.system_identifier = pgflurry.system_identifier() AND pgflurry.new_server($1) IS NULL, false),
       coalesce(d.datname::text, ''), coalesce(d.oid, 0)
FROM pgflurry.namespace AS n LEFT JOIN pg_database AS d
    ON d.oid = n.database_oid AND d.datname <> current_database()
   AND CASE WHEN n.system_identifier IS NULL OR pgflurry.system_identifier() IS NULL THEN d.datname = n.database_name
            ELSE n.system_identifier = pgflurry.system_identifier() END;

-- name: other_databases
-- Lists the other databases of this server, but none that exists only as a template.
SELECT datname::text FROM pg_database
WHERE datname <> current_database() AND (datallowconn OR NOT datistemplate)
ORDER BY datname;

-- name: moved_lock
-- Takes this database's lock for "namespace move" of its ID space, until the session ends: by then a closed database
-- that takes its own place is open. Other databases of the server see it in pg_locks.
SELECT pg_advisory_lock(hashtextextended('pgflurry moved ' || n.id, 0)) FROM pgflurry.namespace AS n;

-- name: moved_elsewhere
-- Reads which other databases of this server run "namespace move" for the same ID space now. Columns: name of one
-- with a lower OID than this database (empty: none), and how many have a higher one.
SELECT coalesce(min(d.datname::text) FILTER (WHERE d.oid < here.oid), ''), count(*) FILTER (WHERE d.oid > here.oid)
FROM pg_locks AS l JOIN pg_database AS d ON d.oid = l.database, pg_database AS here, pgflurry.namespace AS n
WHERE here.datname = current_database() AND d.oid <> here.oid AND l.locktype = 'advisory' AND l.granted
  AND ((l.classid::bigint << 32) | l.objid::bigint) = hashtextextended('pgflurry moved ' || n.id, 0);

-- name: forget
-- Removes the namespace row and the worker rows from a copy of a region that becomes another region: they describe the
-- original. The guards refuse such a change, so they are switched off meanwhile. The new rows are guarded again.
ALTER TABLE pgflurry.namespace DISABLE TRIGGER USER;
ALTER TABLE pgflurry.worker DISABLE TRIGGER USER;
DELETE FROM pgflurry.namespace;
DELETE FROM pgflurry.worker;
DELETE FROM pgflurry.worker_history;
ALTER TABLE pgflurry.namespace
    ENABLE ALWAYS TRIGGER guard_namespace,
    ENABLE ALWAYS TRIGGER guard_namespace_truncate;
ALTER TABLE pgflurry.worker
    ENABLE ALWAYS TRIGGER guard_worker,
    ENABLE ALWAYS TRIGGER guard_worker_truncate,
    ENABLE TRIGGER remember_holder;

-- name: restart_quarantine
-- Changes how long no worker is granted after a start of the server. Only in a home. $1 microseconds (NULL: as the
-- windows need it)
UPDATE pgflurry.namespace SET restart_quarantine = $1::bigint * interval '1 microsecond' WHERE home IS NULL;

-- name: restart
-- Reads how long no worker is granted after a start of the server, in microseconds, and until when none is (NULL: the
-- start of the server keeps none back). In the life of the server in which the row was written nothing is forgotten.
SELECT (extract(epoch FROM r.length) * 1000000)::bigint,
       CASE WHEN n.home IS NULL AND n.born IS DISTINCT FROM pg_postmaster_start_time() AND r.length > '0'
            THEN pg_postmaster_start_time() + r.length END
FROM pgflurry.namespace AS n,
     LATERAL (SELECT coalesce(n.restart_quarantine, n.max_window + 2 * n.skew) AS length) AS r;

-- name: identify
-- Writes into the namespace row that it belongs to this database, and lets the function begin anew above its mark.
CALL pgflurry.identify();

-- name: new_namespace
-- Makes a copy a namespace of its own. true: even if it looks like an original, as a copy of a server's files does.
-- $1 the highest ID that the database holds (NULL: the columns with the function's default are read)
CALL pgflurry.new_namespace(true, $1);

-- name: create_namespace
-- Makes the namespace row and the worker rows. If they exist, only compares them with these values.
-- $1 ... $4 bits of timestamp, datacenter, worker, sequence, $5 epoch, $6 unit (ms), $7 database workers,
-- $8 disposable, $9 id (NULL: a new one), $10 region (NULL: none), $11 foreign workers (NULL: none in a new namespace,
-- and not compared)
CALL pgflurry.create_namespace($9, $1, $2, $3, $4, $5, $6 * interval '1 ms', $7, NULL, NULL, new_disposable => $8,
    new_region => $10, new_foreign_workers => $11::text::int4multirange);

-- name: others_before
-- Raises the marks of a new namespace: another generator has given IDs before. $1 tick after the highest of them
UPDATE pgflurry.worker AS w SET reserved_until = $1 FROM pgflurry.namespace AS n
WHERE w.worker <> n.function_worker AND w.reserved_until < $1;

-- name: lock_workers
-- Keeps others from writing worker rows until the transaction ends. Renewals of leases queue behind this lock, even
-- while it waits itself. So it does not wait for long.
SET LOCAL lock_timeout = '2s';
LOCK TABLE pgflurry.worker IN SHARE ROW EXCLUSIVE MODE;

-- name: quarantine
-- Changes the quarantine of the namespace. $1 the quarantine, microseconds
-- The caller has locked the worker rows. So every grant under the old quarantine is committed before this change, and
-- comes before it in the WAL.
WITH ns AS MATERIALIZED (
    SELECT n.id, pgflurry.ticks(clock_timestamp()) AS now, 1::bigint << n.timestamp_bits AS end_of_time,
           pgflurry.ticks_of(n.quarantine) AS former, $1 * interval '1 microsecond' AS quarantine
    FROM pgflurry.namespace AS n
),
-- A lease whose mark has passed ends here. Its holder could still renew it, for a time that depends on the quarantine.
-- With a longer quarantine it could renew after another process has had its worker. With a shorter one it could be
-- refused without need. The worker becomes free when the old quarantine would have ended.
silent AS (
    UPDATE pgflurry.worker AS w
    SET reserved_until = greatest(w.reserved_until, least(w.reserved_until + ns.former, ns.end_of_time)),
        released_at = clock_timestamp()
    FROM ns
    WHERE w.kind = 'proxy' AND w.term > 0 AND w.released_at IS NULL AND w.retired_at IS NULL
      AND w.reserved_until <= ns.now
)
-- If a failover has closed the gate, it now stays closed for the new quarantine, if that is longer. The rows may have
-- forgotten an earlier change of the quarantine itself.
UPDATE pgflurry.namespace AS n
SET quarantine = ns.quarantine,
    acquire_after = CASE WHEN n.acquire_after > 0 THEN
        greatest(n.acquire_after, n.acquire_after + pgflurry.ticks_of(ns.quarantine) - ns.former) ELSE 0 END
FROM ns
WHERE n.id = ns.id;

-- name: max_window
-- Changes how far ahead renewals may reserve. $1 microseconds
UPDATE pgflurry.namespace SET max_window = $1 * interval '1 microsecond';

-- name: long_grants
-- Reads whether a grant may exist that is longer than max_window allows now. Either a row shows it, or a failover has
-- made the row forget it. The failover closes the gate for as long as such a grant can last. Until somebody notices the
-- failover, the timeline differs from that of the row.
SELECT n.acquire_after > now.tick
       OR pgflurry.wal_timeline() IS NOT NULL AND n.timeline IS DISTINCT FROM pgflurry.wal_timeline()
       OR EXISTS (SELECT FROM pgflurry.worker AS w
                  WHERE w.kind = 'proxy' AND w.term > 0 AND w.released_at IS NULL
                    AND w.reserved_until > now.tick + pgflurry.ticks_of(n.max_window) + pgflurry.ticks_of(n.skew))
FROM pgflurry.namespace AS n, LATERAL (SELECT pgflurry.ticks(clock_timestamp()) AS tick) AS now;

-- name: written
-- Reads up to which position this server has flushed its WAL.
SELECT pg_current_wal_flush_lsn()::text;

-- name: behind
-- Lists the standbys that have not written the WAL up to position $1. Columns: name (NULL: this role may not see the
-- state of this standby), and whether it is connected, so that it may catch up.
-- A standby that has just connected has reported no position yet, and counts as behind. Three others do not count: a
-- logical subscription; pg_receivewal, which replays nothing; a base backup, which includes the WAL up to its own end.
SELECT CASE WHEN r.state IS NOT NULL THEN coalesce(nullif(r.application_name, ''), 'PID ' || r.pid) END AS name,
       true AS connected
FROM pg_stat_replication AS r LEFT JOIN pg_replication_slots AS s ON s.active_pid = r.pid
WHERE s.slot_type IS DISTINCT FROM 'logical'
  AND (r.state IS NULL
       OR r.state IN ('catchup', 'streaming') AND (r.flush_lsn >= $1::pg_lsn) IS NOT TRUE
          AND (r.write_lsn IS NULL OR r.replay_lsn IS NOT NULL))
UNION ALL
SELECT 'slot ' || slot_name, false FROM pg_replication_slots
WHERE slot_type = 'physical' AND NOT active AND restart_lsn < $1::pg_lsn
ORDER BY name;

-- name: named_column
-- Looks for a column that a person named. Columns: the parts of the name, whether there is such a schema, and such a
-- table in it; the type of the column (NULL: there is none), and whether that is bigint, or a domain of it. $1 the name
-- as in SQL
SELECT p.parts, s.oid IS NOT NULL, r.oid IS NOT NULL, format_type(t.oid, NULL),
       coalesce('bigint'::regtype IN (t.oid, t.typbasetype), false)
FROM parse_ident($1) AS p (parts)
LEFT JOIN pg_namespace AS s ON s.nspname = p.parts[1]
LEFT JOIN pg_class AS r ON r.relnamespace = s.oid AND r.relname = p.parts[2]
LEFT JOIN pg_attribute AS a ON a.attrelid = r.oid AND a.attname = p.parts[3] AND a.attnum > 0 AND NOT a.attisdropped
LEFT JOIN pg_type AS t ON t.oid = a.atttypid;

-- name: newest
-- Reads the highest ID of a column (NULL: it has none).
SELECT max(%s)::bigint FROM %s;

-- name: new_server
-- Changes what happens on a server that is not known. $1 warn or refuse
UPDATE pgflurry.namespace SET new_server = $1;
