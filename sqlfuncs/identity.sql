-- Decides which database this is, in one place for all. namespace/doc.go has the rules, and what they cannot see.

CREATE OR REPLACE FUNCTION pgflurry.why_copied() RETURNS text
LANGUAGE sql STABLE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $fn$
    SELECT CASE
        WHEN n.disposable THEN NULL
        WHEN n.system_identifier <> s.here THEN
            format('database "%s" is a copy: its namespace was made on server cluster %s, in database "%s", '
                'and this is server cluster %s',
                d.datname, n.system_identifier, n.database_name, s.here)
        WHEN n.database_oid <> d.oid THEN
            format('database "%s" is a copy: its namespace was made in database "%s" (oid %s), and this one has oid %s',
                d.datname, n.database_name, n.database_oid, d.oid)
        WHEN n.namespace_oid <> n.tableoid OR n.worker_oid <> 'pgflurry.worker'::regclass THEN
            format('database "%s" was restored: its namespace was made in tables with oids %s and %s, '
                'and these have oids %s and %s; what was granted since the dump is forgotten',
                d.datname, n.namespace_oid, n.worker_oid, n.tableoid, 'pgflurry.worker'::regclass::oid)
    END
    FROM pgflurry.namespace AS n, pg_database AS d, pgflurry.system_identifier() AS s (here)
    WHERE d.datname = current_database()
$fn$;
COMMENT ON FUNCTION pgflurry.why_copied() IS
'Why this is not the database that its namespace row was written in, in a sentence: '
'another server (system identifier), another database (oid), another table of them (oid). '
'NULL if it is that one, if the namespace is disposable, or if there is no row.';

CREATE OR REPLACE FUNCTION pgflurry.is_original() RETURNS boolean
LANGUAGE sql STABLE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $fn$
    SELECT EXISTS (SELECT FROM pgflurry.namespace) AND pgflurry.why_copied() IS NULL
$fn$;
COMMENT ON FUNCTION pgflurry.is_original() IS
'Whether this is the database that its namespace row was written in. '
'Everything that grants, draws or migrates asks this and nothing else. False without a row.';

CREATE OR REPLACE FUNCTION pgflurry.place() RETURNS text
LANGUAGE sql STABLE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $fn$
    SELECT format('%s/%s/%s/%s/%s', coalesce(pgflurry.system_identifier()::text, '-'), d.oid, n.tableoid, n.id,
                  n.generation)
    FROM pgflurry.namespace AS n, pg_database AS d
    WHERE d.datname = current_database() AND NOT pg_is_in_recovery()
$fn$;
COMMENT ON FUNCTION pgflurry.place() IS
'Which server and database a connection has at its end, and since which decision of an operator: only for comparison. '
'Two connections with different places are at different databases. NULL on a standby, and without a row: no statement.';

CREATE OR REPLACE FUNCTION pgflurry.joins_are_known() RETURNS boolean
LANGUAGE sql STABLE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $fn$
    SELECT coalesce(CASE WHEN n.restart_quarantine = '0'
                         THEN split_part(n.joins_complete_on, '@', 1) = split_part(l.here, '@', 1)
                         ELSE n.joins_complete_on = l.here END, false)
    FROM pgflurry.namespace AS n, pgflurry.server_life() AS l (here)
$fn$;
COMMENT ON FUNCTION pgflurry.joins_are_known() IS
'Whether every database that has joined stands in pgflurry.worker for sure. Not after a failover, a restore or a '
'restart, until "pgflurry namespace set --joins-complete". NULL without a row.';

-- PostgreSQL keeps an unlogged sequence through a clean shutdown only. Aurora keeps it through a crash, too. What the
-- lane shows then may be older than the last draw: see "A lane that survives" in next_snowflake.sql.
-- It counts ticks itself: next_snowflake() works on where somebody has dropped pgflurry.ticks().
CREATE OR REPLACE FUNCTION pgflurry.lane_wait() RETURNS double precision
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $fn$
DECLARE
    n       pgflurry.namespace;
    unit    numeric;  -- seconds
    ahead   bigint;   -- ticks in a second, as in install_next_snowflake()
    skew    bigint;   -- in ticks
    bound   bigint;   -- no tick above it was started before the server began
    clock   bigint;
    highest bigint;   -- the tick of the lane, or of the stand-in's
BEGIN
    IF pg_is_in_recovery() THEN
        RETURN 1;  -- nobody draws here; and the answer must not outlive a promotion
    END IF;
    SELECT * INTO STRICT n FROM pgflurry.namespace;
    unit := extract(epoch FROM n.unit);
    ahead := ceil(1 / unit);
    skew := ceil(extract(epoch FROM n.skew) / unit);
    clock := floor(extract(epoch FROM clock_timestamp() - n.epoch) / unit);
    bound := floor(extract(epoch FROM pgflurry.server_began() - n.epoch) / unit) + ahead + 1
        + CASE WHEN ('x' || pgflurry.wal_timeline())::bit(32)::bigint
                    = (SELECT last_value FROM pgflurry.function_timeline)
               THEN 0 ELSE skew END;
    SELECT greatest(l.last_value, s.last_value) >> (63 - n.timestamp_bits) INTO highest
        FROM pgflurry.lane AS l, pgflurry.lane_stand_in AS s;
    IF highest IS NULL OR highest = 0 OR highest > bound THEN
        RETURN 0;  -- cannot be read, so nextval() fails; at START; started since
    END IF;
    -- A draw is used while its tick is at most 20 ms old (pgflurry.lag_limit()). If the clock was set back since
    -- the start, nobody waits.
    RETURN CASE WHEN bound - clock > skew + 2 * ahead + 2 THEN 0
                ELSE greatest(0, bound + ceil(0.02 / unit) + 1 - clock) * unit END;
END $fn$;
COMMENT ON FUNCTION pgflurry.lane_wait() IS
'How many seconds next_snowflake() has to wait until the clock is beyond every tick that can have been started before '
'the server began. 0 if the lane is at its START, or was started since.';
REVOKE ALL ON FUNCTION pgflurry.lane_wait() FROM PUBLIC;

CREATE OR REPLACE FUNCTION pgflurry.may_draw_slowly(space uuid, worker integer) RETURNS boolean
LANGUAGE sql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $fn$
    SELECT pgflurry.is_original()
       AND EXISTS (SELECT FROM pgflurry.namespace AS n WHERE n.id = space AND n.function_worker = worker)
       AND pgflurry.lane_wait() = 0
       AND NOT pgflurry.awaits_recognition()
$fn$;
COMMENT ON FUNCTION pgflurry.may_draw_slowly(uuid, integer) IS
'Whether a function that was written for this worker of this ID space may draw here: '
'the database is the original, its row says the same, the lane is not older than the server''s start, '
'and the server is recognised where that is asked for.';
REVOKE ALL ON FUNCTION pgflurry.may_draw_slowly(uuid, integer) FROM PUBLIC;

-- IMMUTABLE is right for as long as PostgreSQL uses it: one session. PostgreSQL evaluates the call once, when a session
-- plans the expression, and puts true or false in its place. A session never changes its database, so its answer stays
-- right. A copy has only new sessions, and they ask anew. When an installation replaces this function, every session
-- asks anew. So the check costs a draw nothing.
-- It costs a session that draws once, as a web application without a pool does for each request. So it asks one flat
-- question, and takes only a yes from it. The question is stricter than may_draw_slowly(): what cannot be told is no
-- yes. The skew always counts, and a second and three ticks are more than lane_wait() has for its rounded numbers. The
-- OID of the database is in the path of pg_class. All names have their schema, since a search_path of its own would
-- cost as much as the question.
CREATE OR REPLACE FUNCTION pgflurry.may_draw(space uuid, worker integer) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL UNSAFE AS $fn$
    SELECT COALESCE(CASE WHEN NOT pg_catalog.pg_is_in_recovery() THEN (
        SELECT true FROM pgflurry.namespace AS n
        WHERE n.id OPERATOR(pg_catalog.=) space AND n.function_worker OPERATOR(pg_catalog.=) worker
          AND NOT n.disposable AND n.new_server OPERATOR(pg_catalog.=) 'warn'::pg_catalog.text
          AND n.system_identifier OPERATOR(pg_catalog.=) pgflurry.system_identifier()
          AND n.database_oid::pg_catalog.text OPERATOR(pg_catalog.=) pg_catalog.reverse(pg_catalog.split_part(
              pg_catalog.reverse(pg_catalog.pg_relation_filepath(1259)), '/'::pg_catalog.text, 2))
          AND n.namespace_oid OPERATOR(pg_catalog.=) n.tableoid
          AND n.worker_oid OPERATOR(pg_catalog.=) 'pgflurry.worker'::pg_catalog.regclass::pg_catalog.oid
          AND (pg_catalog.pg_sequence_last_value(pg_catalog.to_regclass('pgflurry.lane'))
               OPERATOR(pg_catalog.>>) (63 OPERATOR(pg_catalog.-) n.timestamp_bits))::double precision
              OPERATOR(pg_catalog.*) pg_catalog.date_part('epoch'::pg_catalog.text, n.unit)
              OPERATOR(pg_catalog.>)
              (pg_catalog.date_part('epoch'::pg_catalog.text, pgflurry.server_began())
               OPERATOR(pg_catalog.-) pg_catalog.date_part('epoch'::pg_catalog.text, n.epoch)
               OPERATOR(pg_catalog.+) pg_catalog.date_part('epoch'::pg_catalog.text, n.skew)
               OPERATOR(pg_catalog.+)
               (3::double precision OPERATOR(pg_catalog.*) pg_catalog.date_part('epoch'::pg_catalog.text, n.unit))
               OPERATOR(pg_catalog.+) 1::double precision)
    ) END, pgflurry.may_draw_slowly(space, worker))
$fn$;
COMMENT ON FUNCTION pgflurry.may_draw(uuid, integer) IS
'may_draw_slowly(), after one flat question whose yes is enough. IMMUTABLE within a session, which asks once.';

CREATE OR REPLACE FUNCTION pgflurry.first_draw(space uuid, worker integer) RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET client_min_messages = error AS $fn$
DECLARE
    drawn bigint := nextval('pgflurry.lane'::regclass);  -- an error in a read-only transaction
BEGIN
    PERFORM pgflurry.refuse_draw(space, worker);
    PERFORM pg_sleep(pgflurry.lane_wait());
    RETURN nextval('pgflurry.lane'::regclass);
END $fn$;
COMMENT ON FUNCTION pgflurry.first_draw(uuid, integer) IS
'A draw of the lane where may_draw() was false: waits for lane_wait(), or raises what refuse_draw() says.';
REVOKE ALL ON FUNCTION pgflurry.first_draw(uuid, integer) FROM PUBLIC;

CREATE OR REPLACE FUNCTION pgflurry.refuse_draw(space uuid, worker integer) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $fn$
DECLARE
    n   pgflurry.namespace;
    why text;
BEGIN
    DISCARD PLANS;  -- forget the cached answer, so that the next call asks again
    SELECT * INTO n FROM pgflurry.namespace;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'next_snowflake: schema pgflurry of database "%" has no namespace row: '
            'it was restored without its data', current_database()
            USING ERRCODE = 'SNF03',
                  HINT = 'Run "pgflurry migrate up --database URL", which makes a new ID space, '
                      'or "pgflurry namespace join", which makes it another database of one.';
    END IF;
    why := pgflurry.why_copied();
    IF why IS NOT NULL THEN
        RAISE EXCEPTION 'next_snowflake: %; it would give IDs that the original gives too', why
            USING ERRCODE = 'SNF03',
                  HINT = 'Run "pgflurry migrate up --database URL", which says how to go on. '
                      'In a database for tests: CALL pgflurry.new_namespace().';
    END IF;
    IF n.id <> space OR n.function_worker <> worker THEN
        RAISE EXCEPTION 'next_snowflake: the function is that of worker % of ID space %, '
            'but database "%" has worker % of ID space %; it came from another database',
            worker, space, current_database(), n.function_worker, n.id
            USING ERRCODE = 'SNF03', HINT = 'Run "pgflurry migrate up --database URL", which writes the function anew.';
    END IF;
    IF pgflurry.awaits_recognition() THEN
        RAISE EXCEPTION 'next_snowflake: nobody has recognised the server of database "%" since it was started at %: '
            'it may be a copy', current_database(),
            date_trunc('second', pg_postmaster_start_time() AT TIME ZONE 'UTC')
            USING ERRCODE = 'SNF03',
                  HINT = 'A proxy recognises it within seconds by its address, or its log says why not. '
                      'Without a proxy run "pgflurry migrate up --database URL".';
    END IF;
END $fn$;
COMMENT ON FUNCTION pgflurry.refuse_draw(uuid, integer) IS
'Error SNF03 that says why may_draw() is false, and what to run. No error if it would now be true.';
REVOKE ALL ON FUNCTION pgflurry.refuse_draw(uuid, integer) FROM PUBLIC;

CREATE OR REPLACE PROCEDURE pgflurry.begin_anew(other_clock boolean)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $fn$
BEGIN
    -- A dump reads lane and mark at different moments, and a server that was set back has an old lane.
    PERFORM setval(seqrelid, seqstart) FROM pg_sequence
        WHERE seqrelid IN (to_regclass('pgflurry.lane'), to_regclass('pgflurry.lane_stand_in'));
    -- Without a known timeline the function starts as after a promotion: existing IDs may be from another server's
    -- clock.
    IF other_clock THEN
        PERFORM setval('pgflurry.function_timeline'::regclass, 0, false),
                setval('pgflurry.function_timeline_stand_in'::regclass, 0, false);
    END IF;
END $fn$;
COMMENT ON PROCEDURE pgflurry.begin_anew(boolean) IS
'Lets next_snowflake() begin anew, above its mark and further beyond the clock than any earlier ID. '
'Harmless at any time. other_clock adds the skew: IDs here may be from the clock of another server.';

CREATE OR REPLACE PROCEDURE pgflurry.identify()
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $fn$
DECLARE
    same_clock boolean;
BEGIN
    -- If this is a template copy beside its original, its IDs are from the clock of this very server.
    SELECT n.system_identifier = pgflurry.system_identifier()
           AND EXISTS (SELECT FROM pg_database AS o WHERE o.oid = n.database_oid AND o.oid <> d.oid)
        INTO same_clock
        FROM pgflurry.namespace AS n, pg_database AS d WHERE d.datname = current_database();
    UPDATE pgflurry.namespace AS n
        SET system_identifier = pgflurry.system_identifier(), timeline = pgflurry.wal_timeline(),
            database_oid = d.oid, database_name = d.datname,
            namespace_oid = n.tableoid, worker_oid = 'pgflurry.worker'::regclass,
            generation = pgflurry.next_generation(n.generation), closed_at = NULL,
            -- what was said of a server is nothing on another one, and a copy of the files has another start
            restart_quarantine = CASE WHEN n.system_identifier = pgflurry.system_identifier()
                                           AND n.server->'started' = pgflurry.this_server()->'started'
                                      THEN n.restart_quarantine END,
            server = pgflurry.this_server() || '{"reached": []}'
        FROM pg_database AS d WHERE d.datname = current_database();
    CALL pgflurry.begin_anew(same_clock IS NOT TRUE);
END $fn$;
COMMENT ON PROCEDURE pgflurry.identify() IS
'Writes into the namespace row which database this is, and lets the function begin anew, above its mark. '
'Only for a database after the operator has said what it shall be.';

-- Which tick the IDs of this database's tables have reached, as far as it can be read. Only columns whose default is
-- next_snowflake() are looked at.
CREATE OR REPLACE FUNCTION pgflurry.highest_tick() RETURNS bigint
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET row_security = off AS $fn$
DECLARE
    c       record;
    id      bigint;
    highest bigint := 0;
BEGIN
    FOR c IN
        SELECT DISTINCT a.attrelid::regclass AS relation, a.attname AS name
        FROM pg_depend AS d
            JOIN pg_attrdef AS f ON d.classid = 'pg_attrdef'::regclass AND d.objid = f.oid
            JOIN pg_attribute AS a ON a.attrelid = f.adrelid AND a.attnum = f.adnum
            JOIN pg_class AS r ON r.oid = a.attrelid
        WHERE d.refclassid = 'pg_proc'::regclass AND d.refobjid = to_regprocedure('public.next_snowflake()')
          AND a.atttypid = 'bigint'::regtype AND r.relkind IN ('r', 'p') AND NOT r.relispartition
    LOOP
        EXECUTE format('SELECT max(%I) FROM %s', c.name, c.relation) INTO id;
        highest := greatest(highest, id >> (SELECT n.datacenter_bits + n.worker_bits + n.sequence_bits
                                            FROM pgflurry.namespace AS n));
    END LOOP;
    RETURN highest;
EXCEPTION WHEN insufficient_privilege THEN
    RAISE EXCEPTION 'the highest ID of % cannot be read: %', c.relation, SQLERRM
        USING ERRCODE = 'insufficient_privilege',
              HINT = 'Run it as a role that may read each row of it, or say which ID of all tables is the highest: '
                  'CALL pgflurry.new_namespace(after_id => ID), or pgflurry namespace separate --after-id ID.';
END $fn$;
COMMENT ON FUNCTION pgflurry.highest_tick() IS
'The tick of the highest ID in the bigint columns of this database whose default is next_snowflake(); '
'0: there is none. Reads a column without an index from end to end. Error 42501 if a policy hides rows from the role.';

CREATE OR REPLACE PROCEDURE pgflurry.new_namespace(
    although_it_looks_original boolean DEFAULT false, after_id bigint DEFAULT NULL)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $fn$
DECLARE
    above bigint := 0;  -- the first tick that no ID in this database has
BEGIN
    PERFORM pg_advisory_xact_lock(8099555070862062201);  -- the lock of "pgflurry migrate"
    LOCK TABLE pgflurry.namespace, pgflurry.worker IN SHARE ROW EXCLUSIVE MODE;
    IF NOT EXISTS (SELECT FROM pgflurry.namespace) THEN
        RAISE EXCEPTION 'database "%" has no namespace yet', current_database()
            USING ERRCODE = 'object_not_in_prerequisite_state', HINT = 'Run "pgflurry migrate up --database URL".';
    END IF;
    IF pgflurry.is_original() AND NOT (SELECT disposable FROM pgflurry.namespace)
       AND NOT although_it_looks_original THEN
        RAISE EXCEPTION 'database "%" is not a copy: its namespace was made in it', current_database()
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  HINT = 'If it is a copy of the files of a server, whose original lives on, '
                      'run CALL pgflurry.new_namespace(true).';
    END IF;
    -- Marks that were copied with the IDs stay. If the home was elsewhere, the marks here are missing or old: a renewal
    -- there could have taken IDs in this database as far as reach. So could the functions of the old space's other
    -- databases, whose marks are not here at all: a function is never ten seconds ahead of its clock. If a clock once
    -- stood ahead, IDs are further ahead than that. Then the tables show it, or the operator says it.
    -- The holders, and which workers were retired, belong to the old space only: here nobody holds them. Their
    -- quarantine stays.
    IF after_id IS NOT NULL THEN
        SELECT (after_id >> (n.datacenter_bits + n.worker_bits + n.sequence_bits)) + 1 INTO STRICT above
            FROM pgflurry.namespace AS n;
    ELSIF EXISTS (SELECT FROM pgflurry.namespace AS n WHERE n.home IS NOT NULL OR EXISTS (
            SELECT FROM pgflurry.worker AS w
            WHERE w.kind = 'database' AND w.term > 0 AND w.worker <> n.function_worker)) THEN
        above := pgflurry.highest_tick() + 1;
    END IF;
    IF above > pgflurry.ticks(clock_timestamp() + interval '1 day') THEN
        RAISE EXCEPTION 'an ID in the tables of database "%" is ahead of the clock by more than a day',
            current_database()
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  HINT = 'No worker would be free before that. If it is no ID of this ID space, say which is the '
                      'highest: CALL pgflurry.new_namespace(after_id => ID), '
                      'or pgflurry namespace separate --after-id ID.';
    END IF;
    UPDATE pgflurry.namespace SET closed_at = NULL;  -- the copy was not closed; its marks may rise
    WITH before AS (
        SELECT n.*, greatest(above,
                   pgflurry.ticks(clock_timestamp() + greatest(n.max_window, interval '10 s') + n.skew)) AS reach,
               coalesce(n.region, 0)::integer << n.worker_bits AS lowest,
               1 << (CASE WHEN n.region IS NULL THEN n.datacenter_bits ELSE 0 END + n.worker_bits) AS workers
        FROM pgflurry.namespace AS n
    ), filled AS (
        INSERT INTO pgflurry.worker (worker, kind, reserved_until)
        SELECT w, pgflurry.worker_kind(w, function_workers, foreign_workers),
               CASE WHEN w = function_worker THEN 0 ELSE reach END
        FROM before, generate_series(lowest, lowest + workers - 1) AS w
        WHERE home IS NOT NULL AND NOT EXISTS (SELECT FROM pgflurry.worker AS known WHERE known.worker = w)
    ), freed AS (
        UPDATE pgflurry.worker AS w
        SET reserved_until = CASE WHEN before.home IS NOT NULL OR w.kind = 'database' AND w.term > 0
                                  THEN greatest(w.reserved_until, before.reach) ELSE w.reserved_until END,
            owner = CASE WHEN w.term > 0 THEN gen_random_uuid() END,
            term = CASE WHEN w.term > 0 THEN w.term + 1 ELSE 0 END,
            released_at = CASE WHEN w.kind = 'database' AND w.term > 0 THEN clock_timestamp() ELSE w.released_at END,
            retired_at = NULL, node = NULL, address = NULL, version = NULL, acquired_at = NULL, renewed_at = NULL
        FROM before WHERE w.worker <> before.function_worker
    )
    UPDATE pgflurry.namespace
        SET id = gen_random_uuid(), home = NULL, claim = gen_random_uuid(),
            joins_complete_on = pgflurry.server_life();
    -- The function keeps its worker: its own mark covers that worker's IDs.
    UPDATE pgflurry.worker AS w
        SET owner = n.claim, term = w.term + 1,
            node = current_database(), address = NULL, version = NULL,
            acquired_at = clock_timestamp(), released_at = NULL, retired_at = NULL, renewed_at = NULL
        FROM pgflurry.namespace AS n WHERE w.worker = n.function_worker;
    DELETE FROM pgflurry.worker_history;
    -- If this is the restored database itself, or a copy of its server's files, old grants may still be in use.
    UPDATE pgflurry.namespace AS n
        SET acquire_after = greatest(n.acquire_after, pgflurry.ticks(clock_timestamp() + n.quarantine))
        FROM pg_database AS d WHERE d.datname = current_database() AND d.oid = n.database_oid;
    CALL pgflurry.identify();
    CALL pgflurry.install_next_snowflake();
    CALL pgflurry.end_closing();
END $fn$;
COMMENT ON PROCEDURE pgflurry.new_namespace(boolean, bigint) IS
'Makes a copy of a database an ID space of its own, at once usable, as "pgflurry namespace separate" does; '
'for template copies of test suites. '
'No worker begins below after_id, the highest ID that the database holds. '
'If it is NULL, and other databases had workers of the old space, '
'the columns whose default is next_snowflake() are read. '
'Error 55000 in a database that does not look like a copy, unless although_it_looks_original is true.';
