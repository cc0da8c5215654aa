-- The guards: triggers that keep rows from going back, whoever writes them, and that keep a closed database closed.
-- They are ENABLE ALWAYS, so that they hold in a session with session_replication_role = replica, too. A dump that was
-- restored with --disable-triggers leaves them without it. So each installation makes them right again.

CREATE OR REPLACE FUNCTION pgflurry.is_applied(row_of text) RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $fn$
BEGIN
    IF current_setting('session_replication_role') <> 'replica' THEN
        RETURN false;
    END IF;
    IF (SELECT a.backend_type FROM pg_stat_get_activity(pg_backend_pid()) AS a) IS DISTINCT FROM 'client backend' THEN
        RETURN true;
    END IF;
    RAISE EXCEPTION 'session_replication_role is replica: a row of % is written as if it came from another database',
        row_of
        USING ERRCODE = 'object_not_in_prerequisite_state',
              HINT = 'Run: SET session_replication_role = origin. Restore scripts and roles may have set it.';
END $fn$;
COMMENT ON FUNCTION pgflurry.is_applied(text) IS
'Whether this process applies the changes of a subscription: what it brings is true of another database. '
'Error 55000 in a session of a client that looks like one.';

-- Once the row exists an ID may exist, so what an ID means can no longer change.
-- A role that keeps leases changes what a lease needs and no more. That holds also where it was granted UPDATE on the
-- whole table, or is a member of pg_write_all_data. Only the owner says what a database is, and opens the gate.
CREATE OR REPLACE FUNCTION pgflurry.guard_namespace() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $fn$
DECLARE
    leases constant text[] := '{timeline,acquire_after,joins_complete_on,gate_by,server}';  -- what a lease changes
    highest bigint;
BEGIN
    IF TG_OP <> 'UPDATE' THEN
        RAISE EXCEPTION '% on pgflurry.namespace is refused: generators check themselves against it', TG_OP
            USING ERRCODE = 'restrict_violation',
                  HINT = 'To remove everything run "pgflurry migrate down".';
    END IF;
    -- first of all: an error would stop the subscription
    IF pgflurry.is_applied('pgflurry.namespace') THEN
        RETURN NULL;
    END IF;
    IF (NEW.epoch, NEW.unit, NEW.timestamp_bits, NEW.datacenter_bits, NEW.worker_bits, NEW.sequence_bits,
        NEW.region, NEW.database_workers, NEW.function_workers, NEW.foreign_workers, NEW.disposable)
       IS DISTINCT FROM
       (OLD.epoch, OLD.unit, OLD.timestamp_bits, OLD.datacenter_bits, OLD.worker_bits, OLD.sequence_bits,
        OLD.region, OLD.database_workers, OLD.function_workers, OLD.foreign_workers, OLD.disposable) THEN
        RAISE EXCEPTION 'the layout of a namespace cannot change, nor its region, nor whom a worker is for, '
            'nor whether it is disposable'
            USING ERRCODE = 'restrict_violation',
                  HINT = 'Identifiers of the present layout may exist. '
                      'Another layout needs another namespace, that is another database.';
    END IF;
    IF NEW.generation < OLD.generation THEN
        RAISE EXCEPTION 'the generation of a namespace may not fall: % to %', OLD.generation, NEW.generation
            USING ERRCODE = 'restrict_violation',
                  HINT = 'It counts what operators have said of this database, and proxies compare it.';
    END IF;
    IF NEW.acquire_after > OLD.acquire_after THEN
        NEW.gate_by := format('role %s, %s, at %s', session_user,
            coalesce(nullif(current_setting('application_name'), ''), 'without application_name'),
            date_trunc('second', clock_timestamp() AT TIME ZONE 'UTC'));
    END IF;
    IF to_jsonb(NEW) <> to_jsonb(OLD)
       AND NOT pg_has_role((SELECT relowner FROM pg_class WHERE oid = TG_RELID), 'USAGE') THEN
        IF to_jsonb(NEW) - leases <> to_jsonb(OLD) - leases
           OR NEW.joins_complete_on IS DISTINCT FROM OLD.joins_complete_on AND NEW.joins_complete_on IS NOT NULL THEN
            RAISE EXCEPTION 'role % may change timeline and acquire_after of pgflurry.namespace, and nothing else',
                current_user
                USING ERRCODE = 'insufficient_privilege',
                      HINT = 'The rest says which database this is. '
                          'Run "pgflurry migrate up" as the owner of the schema.';
        END IF;
        highest := pgflurry.ticks(clock_timestamp()) + pgflurry.ticks_of(OLD.quarantine)
            + 2 * pgflurry.ticks_of(OLD.skew);
        IF NEW.acquire_after < OLD.acquire_after OR NEW.acquire_after > greatest(OLD.acquire_after, highest) THEN
            RAISE EXCEPTION 'role % may not set acquire_after of pgflurry.namespace from % to %; '
                'a lease never lowers it, and never sets it above %',
                current_user, OLD.acquire_after, NEW.acquire_after, highest
                USING ERRCODE = 'insufficient_privilege',
                      HINT = 'The owner of the schema opens the gate: pgflurry workers open-gate.';
        END IF;
        -- A new timeline without its gate hides a failover: what that forgot would be granted again at once.
        IF NEW.timeline IS DISTINCT FROM OLD.timeline AND NEW.acquire_after
           < pgflurry.ticks(statement_timestamp()) + pgflurry.ticks_of(OLD.quarantine) THEN
            RAISE EXCEPTION 'role % may not change timeline of pgflurry.namespace without closing the gate',
                current_user
                USING ERRCODE = 'insufficient_privilege',
                      HINT = 'The statements of a lease do both.';
        END IF;
        -- What is forgotten of the server cannot tell a copy that nobody has declared.
        IF NEW.server IS DISTINCT FROM OLD.server
           AND (NEW.server->'started' = to_jsonb(extract(epoch FROM pg_postmaster_start_time()))
                AND jsonb_path_exists(NEW.server, '$.reached[*]')
                AND NOT pgflurry.is_new_server(OLD.server, NEW.server, (
                    SELECT string_agg(r.address, ' ')
                    FROM jsonb_array_elements_text(NEW.server->'reached') AS r (address)))) IS NOT TRUE THEN
            RAISE EXCEPTION 'role % may not change what pgflurry.namespace remembers of the server but by noting it',
                current_user
                USING ERRCODE = 'insufficient_privilege',
                      HINT = 'pgflurry.note_server() does that. '
                          'The owner says what a database on another server is: pgflurry migrate up.';
        END IF;
    END IF;
    RETURN NEW;
END $fn$;
COMMENT ON FUNCTION pgflurry.guard_namespace() IS
'Refuses, with SQLSTATE 23001, to change the layout, the region or whom a worker is for, to lower the generation, '
'to delete or to truncate the namespace; with 42501 to change more than a lease needs, except by the owner; '
'with 55000 in a session with session_replication_role = replica.';

-- A mark that falls, or a row that vanishes, is a duplicate ID later on: nobody may do it, whatever his rights.
-- Only the owner gives a database a worker, retires one, and reserves further ahead than a lease needs.
CREATE OR REPLACE FUNCTION pgflurry.guard_worker() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $fn$
DECLARE
    highest bigint;
BEGIN
    IF TG_OP <> 'UPDATE' THEN
        RAISE EXCEPTION '% on pgflurry.worker is refused: the rows remember which identifiers may exist', TG_OP
            USING ERRCODE = 'restrict_violation',
                  HINT = 'To stop the use of a worker run "pgflurry workers retire"; '
                      'to remove everything run "pgflurry migrate down".';
    END IF;
    IF pgflurry.is_applied('pgflurry.worker') THEN
        RETURN NULL;
    END IF;
    IF NEW.reserved_until < OLD.reserved_until OR NEW.worker <> OLD.worker
       OR NEW.term < OLD.term THEN
        RAISE EXCEPTION 'worker % may not go back: reserved_until % to %, term % to %',
            OLD.worker, OLD.reserved_until, NEW.reserved_until, OLD.term, NEW.term
            USING ERRCODE = 'restrict_violation',
                  HINT = 'Identifiers up to the mark may exist. '
                      'To stop the use of a worker run "pgflurry workers retire".';
    END IF;
    IF NEW.kind <> OLD.kind THEN
        RAISE EXCEPTION 'worker % is a % worker, and cannot become a % worker', OLD.worker, OLD.kind, NEW.kind
            USING ERRCODE = 'restrict_violation',
                  HINT = 'Whom a worker is for was fixed when the ID space was made.';
    END IF;
    -- The statements of a lease ask by themselves. This holds for programs that know no closing.
    -- The row decides: a copy that becomes another ID space has cleared it before its marks rise.
    IF NEW.reserved_until > OLD.reserved_until
       AND EXISTS (SELECT FROM pgflurry.namespace AS n WHERE n.closed_at IS NOT NULL) THEN
        CALL pgflurry.refuse_closed(format('worker %s', OLD.worker));
    END IF;
    IF pg_has_role((SELECT relowner FROM pg_class WHERE oid = TG_RELID), 'USAGE') THEN
        RETURN NEW;
    END IF;
    IF NOT OLD.worker <@ pgflurry.leasable(current_user) THEN
        RAISE EXCEPTION 'role % may not lease worker %, only those in %',
            current_user, OLD.worker, pgflurry.leasable(current_user)
            USING ERRCODE = 'insufficient_privilege',
                  HINT = 'The owner of the schema may give it others: CALL pgflurry.grant_lease(role, workers).';
    END IF;
    IF NEW.kind <> 'proxy' OR OLD.kind <> 'proxy' OR NEW.retired_at IS DISTINCT FROM OLD.retired_at THEN
        RAISE EXCEPTION 'role % may neither retire worker % nor change one that is not a proxy''s',
            current_user, OLD.worker
            USING ERRCODE = 'insufficient_privilege',
                  HINT = 'Run "pgflurry workers retire" or "pgflurry migrate up" as the owner of the schema.';
    END IF;
    IF NEW.term > OLD.term + 1 THEN
        RAISE EXCEPTION 'role % may not raise the term of worker % from % to %: an acquisition adds 1',
            current_user, OLD.worker, OLD.term, NEW.term
            USING ERRCODE = 'insufficient_privilege', HINT = 'A term at its end can never be acquired again.';
    END IF;
    IF NEW.reserved_until > OLD.reserved_until THEN
        -- as far as a renewal may go, and the skew beyond (renew.sql)
        SELECT greatest(now.tick + pgflurry.ticks_of(n.max_window) + 2 * pgflurry.ticks_of(n.skew),
                        OLD.reserved_until + greatest(0, now.tick - coalesce(pgflurry.ticks(OLD.renewed_at), now.tick)))
            INTO STRICT highest
            FROM pgflurry.namespace AS n, LATERAL (SELECT pgflurry.ticks(clock_timestamp()) AS tick) AS now;
        IF NEW.reserved_until > highest THEN
            RAISE EXCEPTION 'role % may not reserve worker % until tick %: a lease reaches to % at most',
                current_user, OLD.worker, NEW.reserved_until, highest
                USING ERRCODE = 'insufficient_privilege',
                      HINT = 'A mark that is far ahead takes the worker out of use until then.';
        END IF;
        NEW.renewed_at := clock_timestamp();  -- the next renewal counts from here, whatever the role writes
    ELSIF NEW.renewed_at IS DISTINCT FROM OLD.renewed_at THEN
        NEW.renewed_at := clock_timestamp();
    END IF;
    RETURN NEW;
END $fn$;
COMMENT ON FUNCTION pgflurry.guard_worker() IS
'Refuses, with SQLSTATE 23001, to lower a mark or a term, to renumber, to delete or to truncate workers, '
'and another kind; '
'with 42501 to retire one, to change one that is not a proxy''s or one outside of the role''s range, '
'or to reserve further than a lease needs, except by the owner; '
'with 55000 in a session with session_replication_role = replica.';

CREATE OR REPLACE FUNCTION pgflurry.guard_closed() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $fn$
BEGIN
    IF pgflurry.is_closed() THEN
        CALL pgflurry.refuse_closed(TG_RELID::regclass::text);
    END IF;
    RETURN NULL;
END $fn$;
COMMENT ON FUNCTION pgflurry.guard_closed() IS 'Refuses writes, with SQLSTATE SNF04, once the database is closed.';

-- Also against members of pg_write_all_data.
CREATE OR REPLACE FUNCTION pgflurry.guard_lease_range() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $fn$
BEGIN
    IF NOT pg_has_role((SELECT relowner FROM pg_class WHERE oid = TG_RELID), 'USAGE') THEN
        RAISE EXCEPTION 'role % may not change which workers a role may lease', current_user
            USING ERRCODE = 'insufficient_privilege', HINT = 'The owner of the schema may.';
    END IF;
    RETURN NULL;
END $fn$;
COMMENT ON FUNCTION pgflurry.guard_lease_range() IS
'Refuses, with SQLSTATE 42501, to change pgflurry.lease_range, except by the owner.';

CREATE OR REPLACE FUNCTION pgflurry.guard_segment() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $fn$
BEGIN
    RAISE EXCEPTION 'the numbers of tag % may not go back: max_id % to %',
        quote_literal(OLD.biz_tag), OLD.max_id, NEW.max_id
        USING ERRCODE = 'restrict_violation',
              HINT = 'Numbers below max_id may exist. '
                  'To begin anew delete the row, wait a minute until every proxy has noticed, and insert it again.';
END $fn$;
COMMENT ON FUNCTION pgflurry.guard_segment() IS 'Refuses, with SQLSTATE 23001, to lower the max_id of a tag.';

CREATE OR REPLACE FUNCTION pgflurry.guard_auto_increment() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $fn$
BEGIN
    RAISE EXCEPTION 'the numbers of % may not go back: last % to %', quote_literal(OLD.name), OLD.last, NEW.last
        USING ERRCODE = 'restrict_violation',
              HINT = 'Numbers up to the last one may exist. To begin anew delete the row and insert it again.';
END $fn$;
COMMENT ON FUNCTION pgflurry.guard_auto_increment() IS
'Refuses, with SQLSTATE 23001, to lower the last number of a name.';

-- Every guard, and the statement that makes it.
CREATE OR REPLACE FUNCTION pgflurry.guards(OUT made_on regclass, OUT name name, OUT made_by text) RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $fn$
    SELECT to_regclass('pgflurry.' || g.on_table), g.name,
           format('CREATE TRIGGER %I BEFORE %s EXECUTE FUNCTION pgflurry.%s', g.name,
                  format(g.fires, 'pgflurry.' || g.on_table), g.calls)
    FROM (VALUES
        ('namespace', 'guard_namespace', 'UPDATE OR DELETE ON %s FOR EACH ROW', 'guard_namespace()'),
        ('namespace', 'guard_namespace_truncate', 'TRUNCATE ON %s FOR EACH STATEMENT', 'guard_namespace()'),
        ('worker', 'guard_worker', 'UPDATE OR DELETE ON %s FOR EACH ROW', 'guard_worker()'),
        ('worker', 'guard_worker_truncate', 'TRUNCATE ON %s FOR EACH STATEMENT', 'guard_worker()'),
        ('lease_range', 'guard_lease_range', 'INSERT OR UPDATE OR DELETE ON %s FOR EACH STATEMENT',
            'guard_lease_range()'),
        ('segment', 'guard_segment', 'UPDATE ON %s FOR EACH ROW WHEN (NEW.max_id < OLD.max_id)', 'guard_segment()'),
        ('auto_increment', 'guard_auto_increment', 'UPDATE ON %s FOR EACH ROW WHEN (NEW.last < OLD.last)',
            'guard_auto_increment()'),
        ('segment', 'guard_closed', 'INSERT OR UPDATE OR DELETE ON %s FOR EACH STATEMENT', 'guard_closed()'),
        ('auto_increment', 'guard_closed', 'INSERT OR UPDATE OR DELETE ON %s FOR EACH STATEMENT', 'guard_closed()'),
        ('replace_sequence', 'guard_closed', 'INSERT OR UPDATE OR DELETE ON %s FOR EACH STATEMENT', 'guard_closed()'),
        ('counter', 'guard_closed', 'INSERT OR UPDATE OR DELETE ON %s FOR EACH STATEMENT', 'guard_closed()'),
        ('token', 'guard_closed', 'INSERT OR UPDATE OR DELETE ON %s FOR EACH STATEMENT', 'guard_closed()'),
        ('lock', 'guard_closed', 'INSERT OR UPDATE OR DELETE ON %s FOR EACH STATEMENT', 'guard_closed()')
    ) AS g (on_table, name, fires, calls)
$fn$;
COMMENT ON FUNCTION pgflurry.guards() IS 'The triggers that guard pgflurry''s tables, and how each is made.';

CREATE OR REPLACE FUNCTION pgflurry.weak_guards() RETURNS SETOF text
LANGUAGE sql STABLE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $fn$
    SELECT format('%s on %s', g.name, g.made_on)
    FROM pgflurry.guards() AS g LEFT JOIN pg_trigger AS t ON t.tgrelid = g.made_on AND t.tgname = g.name
    WHERE t.tgenabled IS DISTINCT FROM 'A'
$fn$;
COMMENT ON FUNCTION pgflurry.weak_guards() IS
'Guards that are missing, or that do not hold in every session; a restore with --disable-triggers leaves them so. '
'"pgflurry migrate up" mends them.';

CREATE OR REPLACE PROCEDURE pgflurry.keep_guards()
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $fn$
DECLARE
    guard record;
BEGIN
    FOR guard IN
        SELECT g.*, t.tgname IS NULL AS missing
        FROM pgflurry.guards() AS g LEFT JOIN pg_trigger AS t ON t.tgrelid = g.made_on AND t.tgname = g.name
        WHERE t.tgenabled IS DISTINCT FROM 'A'
    LOOP
        IF guard.missing THEN
            EXECUTE guard.made_by;
        END IF;
        EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER %I', guard.made_on, guard.name);
    END LOOP;
END $fn$;
COMMENT ON PROCEDURE pgflurry.keep_guards() IS
'Makes guards that are missing, and lets each hold in every session. May be run again at any time.';
