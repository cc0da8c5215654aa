-- What the steps of a migration send, but for the migrations and the functions: those have files of their own.
-- Statements of "migrate print" stand in print.sql.

-- name: proxies
-- Counts the proxies that hold a worker of this home.
SELECT count(*) FROM pgflurry.worker AS w CROSS JOIN pgflurry.namespace AS n
WHERE w.kind = 'proxy' AND w.term > 0 AND w.released_at IS NULL
  AND n.epoch + w.reserved_until * n.unit > clock_timestamp();

-- name: quiet
-- Until the transaction ends nobody acquires or renews a lease, or starts a tick. Meanwhile "migrate down" decides
-- whether it may remove everything, and does it.
LOCK TABLE pgflurry.namespace, pgflurry.worker, pgflurry.function_lock, pgflurry.function_lock_stand_in
    IN ACCESS EXCLUSIVE MODE;

-- name: dependents
-- Lists what uses pgflurry from outside, so that "migrate down" can refuse. These are defaults, generated columns,
-- views, indexes, constraints, and functions. If the body of a function is a string, PostgreSQL does not know what it
-- uses. So this looks for pgflurry's names in the string. It does not look for the aliases in public: names such as
-- incr or unlock also occur in functions that do not use pgflurry.
WITH ours AS (
    SELECT 'pg_proc'::regclass AS classid, p.oid AS objid
    FROM pg_proc AS p
    WHERE p.pronamespace = to_regnamespace('pgflurry')
       OR p.pronamespace = to_regnamespace('public')
          AND (p.oid IN (SELECT to_regprocedure('public.' || function) FROM pgflurry.snowflake_family())
               OR pgflurry.is_alias(p.oid))
    UNION ALL
    SELECT 'pg_class'::regclass, c.oid FROM pg_class AS c WHERE c.relnamespace = to_regnamespace('pgflurry')
), users AS (
    SELECT d.classid, d.objid, d.objsubid,
           -- the relation that a default, a rule, a constraint or a trigger belongs to
           coalesce((SELECT adrelid FROM pg_attrdef WHERE oid = d.objid AND d.classid = 'pg_attrdef'::regclass),
                    (SELECT ev_class FROM pg_rewrite WHERE oid = d.objid AND d.classid = 'pg_rewrite'::regclass),
                    (SELECT conrelid FROM pg_constraint WHERE oid = d.objid AND d.classid = 'pg_constraint'::regclass),
                    (SELECT tgrelid FROM pg_trigger WHERE oid = d.objid AND d.classid = 'pg_trigger'::regclass),
                    (SELECT oid FROM pg_class WHERE oid = d.objid AND d.classid = 'pg_class'::regclass)) AS relation
    FROM pg_depend AS d JOIN ours ON d.refclassid = ours.classid AND d.refobjid = ours.objid
    WHERE d.deptype = 'n' AND NOT EXISTS (SELECT FROM ours AS o WHERE o.classid = d.classid AND o.objid = d.objid)
)
SELECT DISTINCT CASE WHEN classid = 'pg_rewrite'::regclass THEN pg_describe_object('pg_class'::regclass, relation, 0)
                     ELSE pg_describe_object(classid, objid, objsubid) END AS what
FROM users
WHERE relation IS NULL OR relation NOT IN (SELECT objid FROM ours WHERE classid = 'pg_class'::regclass)
UNION
SELECT pg_describe_object('pg_proc'::regclass, p.oid, 0)
FROM pg_proc AS p
WHERE p.prosrc ~ '\m(next_snowflakes?|next_segments?|snowflake_(time|worker|sequence|parts|floor|ceil))\M|\mpgflurry\.'
  AND NOT EXISTS (SELECT FROM ours AS o WHERE o.classid = 'pg_proc'::regclass AND o.objid = p.oid)
  AND p.pronamespace <> 'pg_catalog'::regnamespace
ORDER BY what;

-- name: try
-- Begins a part of the transaction that take_back takes back.
SAVEPOINT tried;

-- name: take_back
ROLLBACK TO SAVEPOINT tried;
RELEASE SAVEPOINT tried;

-- name: orphans
-- Lists functions in public that have the name of one of pgflurry's, for a database without schema pgflurry. Whether
-- they are pgflurry's shows only in their bodies: pgflurry.drop_public() looks there.
SELECT p.oid::regprocedure::text FROM pg_proc AS p
WHERE p.pronamespace = to_regnamespace('public')
  AND p.proname IN ('next_snowflake', 'next_snowflakes', 'snowflake_time', 'snowflake_worker', 'snowflake_sequence',
                    'snowflake_parts', 'snowflake_floor', 'snowflake_ceil')
ORDER BY 1;

-- name: joined
-- Lists the databases that have joined the namespace whose home this is, from the worker rows. In a database that is no
-- home, there are none.
SELECT w.node, w.worker, coalesce(w.address, ''), w.acquired_at
FROM pgflurry.worker AS w, pgflurry.namespace AS n
WHERE n.home IS NULL AND w.kind = 'database' AND w.term > 0 AND w.released_at IS NULL AND w.worker <> n.function_worker
ORDER BY w.worker;

-- name: left
-- Lists objects in schema pgflurry that are not pgflurry's. Their owners would lose them with the schema, so "migrate
-- down" refuses. It runs after the functions and the tables of the migrations were removed.
SELECT pg_describe_object(classid, objid, objsubid)
FROM pg_depend
WHERE refclassid = 'pg_namespace'::regclass AND refobjid = to_regnamespace('pgflurry') AND deptype = 'n'
  AND NOT (classid = 'pg_class'::regclass AND objid = 'pgflurry.migration'::regclass)
ORDER BY 1;

-- name: drop_schema
DROP TABLE pgflurry.migration;
DROP SCHEMA pgflurry;

-- name: functions
-- Reads a digest of every function of pgflurry. "migrate status" compares it with that of a fresh installation.
-- An alias in public only calls the function of its name in schema pgflurry. Other schemas may have clones.
-- The list of names repeats pgflurry.snowflake_family(): that function is compared too, and may be missing or changed.
SELECT p.oid::regprocedure::text,
       md5(pg_get_functiondef(p.oid) || coalesce(obj_description(p.oid, 'pg_proc'), ''))
FROM pg_proc AS p
WHERE p.pronamespace = to_regnamespace('pgflurry')
   OR p.pronamespace = to_regnamespace('public')
      AND (p.proname IN ('next_snowflake', 'next_snowflakes', 'snowflake_time', 'snowflake_worker',
                         'snowflake_sequence', 'snowflake_parts', 'snowflake_floor', 'snowflake_ceil')
           OR pg_get_function_sqlbody(p.oid) LIKE format('RETURN pgflurry.%I(%%', p.proname))
   OR p.proname = 'next_snowflake' AND p.pronargs = 0 AND p.prokind = 'f';

-- name: kept
-- Lists names that have no alias in public, because another function has them, and that function.
SELECT name, other FROM pgflurry.kept_names();

-- name: foreign
-- Lists functions in public that are not pgflurry's, but stand in the place of one that "migrate up" must install.
SELECT f FROM pgflurry.foreign_functions() AS f;

-- name: record
-- Records an applied migration. $1 its number
INSERT INTO pgflurry.migration (number) VALUES ($1);

-- name: applied
-- Lists the applied migrations, and when each was applied.
SELECT number, applied_at FROM pgflurry.migration;

-- name: without_rows
-- Reads whether the tables exist but no migration is recorded, as after the restore of a dump without data. Runs after
-- statement bootstrap, which creates the table of the record.
SELECT to_regclass('pgflurry.namespace') IS NOT NULL AND NOT EXISTS (SELECT FROM pgflurry.migration);

-- name: rests
-- Lists what may have issued IDs that are ahead of the clock: workers and the function. A worker is listed for one
-- quarantine longer. Columns: worker (NULL: the function), last holder, milliseconds left.
SELECT w.worker, coalesce(w.node, '') AS node,
       (extract(epoch FROM (w.reserved_until - now.tick) * n.unit + n.quarantine) * 1000)::bigint AS ms
FROM pgflurry.worker AS w, pgflurry.namespace AS n, LATERAL (SELECT pgflurry.ticks(clock_timestamp()) AS tick) AS now
WHERE w.reserved_until > 0 AND w.reserved_until + pgflurry.ticks_of(n.quarantine) > now.tick
UNION ALL
SELECT NULL, '', (extract(epoch FROM (m.tick - now.tick) * n.unit) * 1000)::bigint
FROM (SELECT greatest(m.last_value, s.last_value) AS tick FROM pgflurry.mark AS m, pgflurry.mark_stand_in AS s) AS m,
     pgflurry.namespace AS n, LATERAL (SELECT pgflurry.ticks(clock_timestamp()) AS tick) AS now
WHERE m.tick > now.tick
ORDER BY ms DESC, worker;

-- name: unlogged
-- Lists the unlogged sequences of pgflurry by oid: a sequence that was recreated has a new one.
SELECT c.oid::text FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = 'pgflurry' AND c.relkind = 'S' AND c.relpersistence = 'u';

-- name: unreadable
-- Lists the sequences that a failover left unreadable.
SELECT s::text FROM pgflurry.unreadable_sequences() AS s;

-- name: standbys
-- Reads whether this server has standbys, connected or with a slot, and whether this role may run CHECKPOINT. A logical
-- subscription is no standby.
SELECT EXISTS (SELECT FROM pg_stat_replication AS r LEFT JOIN pg_replication_slots AS s ON s.active_pid = r.pid
               WHERE s.slot_type IS DISTINCT FROM 'logical')
           OR EXISTS (SELECT FROM pg_replication_slots WHERE slot_type = 'physical'),
       pg_has_role('pg_checkpoint', 'USAGE'),
       current_setting('checkpoint_timeout');

-- name: checkpoint
-- A standby makes a restartpoint only at a checkpoint of the primary. This checkpoint comes after the new sequences, so
-- the next restartpoint writes them to the standby's disk, where a promotion finds them.
CHECKPOINT;

-- name: joins_closed
-- Reads whether this home refuses further databases that want to join, because it may have forgotten one that did. On a
-- standby, which does not show its timeline, the answer is always false.
SELECT n.home IS NULL AND NOT pg_is_in_recovery()
       AND NOT pgflurry.joins_are_known()
FROM pgflurry.namespace AS n;

-- name: drawers
-- Lists the roles that can cause duplicates: they may draw from the function's sequences, or set them. Superusers and
-- members of the sequences' owner are left out. The next "migrate up" revokes such grants. It cannot revoke what
-- members of pg_write_all_data may do.
SELECT r.rolname::text
FROM pg_roles AS r, pg_class AS c
WHERE c.oid = to_regclass('pgflurry.lane')
  AND NOT r.rolsuper AND r.rolname <> 'pg_write_all_data' AND NOT pg_has_role(r.oid, c.relowner, 'MEMBER')
  AND (has_sequence_privilege(r.oid, c.oid, 'USAGE, UPDATE')
       OR has_sequence_privilege(r.oid, 'pgflurry.mark', 'USAGE, UPDATE'))
ORDER BY 1;

-- name: lock_tables
-- Lists the locks of the function that are no views. What maintains tables would hold them, and stop all draws.
SELECT l.name FROM unnest('{function_lock,function_lock_stand_in}'::text[]) AS l (name)
LEFT JOIN pg_class AS c ON c.oid = to_regclass('pgflurry.' || l.name)
WHERE c.relkind IS DISTINCT FROM 'v';

-- name: bootstrap
-- Creates schema pgflurry with the record of the applied migrations. It runs before the first migration, because that
-- one is recorded, too.
CREATE SCHEMA IF NOT EXISTS pgflurry;
COMMENT ON SCHEMA pgflurry IS
'pgflurry: the ID space of this database (namespace), who may issue IDs (worker), the other ways to make an ID, '
'and the inside of next_snowflake(). What every application calls is in public.';

CREATE TABLE IF NOT EXISTS pgflurry.migration (
    number     integer     NOT NULL
        CONSTRAINT migration_pkey PRIMARY KEY
        CONSTRAINT migration_number_range CHECK (number > 0),
    applied_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE pgflurry.migration IS 'Which migrations were applied to this schema; kept by "pgflurry migrate".';
COMMENT ON COLUMN pgflurry.migration.number IS 'Number of the migration.';
COMMENT ON COLUMN pgflurry.migration.applied_at IS 'When it was applied.';

-- name: end_closing
-- Lets a database draw that came from the dump of a closed one. Its row says by now what it is. It runs after that is
-- committed: no database draws while its row says that it is closed.
CALL pgflurry.end_closing();

-- name: installed
-- Records which version of the program installs the functions. If an older program refuses to run, it names this one.
-- $1 version (NULL: unknown)
UPDATE pgflurry.namespace SET installed_by = $1 WHERE installed_by IS DISTINCT FROM $1;
