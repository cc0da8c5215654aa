-- +goose Up

-- Which database this is, and who holds the claim to its worker: see namespace/doc.go.
ALTER TABLE pgflurry.namespace
    ADD COLUMN disposable        boolean NOT NULL DEFAULT false,
    ADD COLUMN worker_oid        oid,
    ADD COLUMN claim             uuid,
    ADD COLUMN joins_complete_on text,
    ADD COLUMN installed_by      text
        CONSTRAINT namespace_installed_by_length CHECK (length(installed_by) <= 255);

COMMENT ON COLUMN pgflurry.namespace.disposable IS
'Whether copies of this database draw with its worker, as the copies of a test suite''s template do. For tests only: their IDs are equal to those of the template. Chosen with the namespace.';
COMMENT ON COLUMN pgflurry.namespace.worker_oid IS
'Table pgflurry.worker when the row was written, pg_class.oid: a dump of that table alone, restored, has made another.';
COMMENT ON COLUMN pgflurry.namespace.claim IS
'Owner in the row of function_worker, in the home: it tells this claim from every other one. A physical copy has it too.';
COMMENT ON COLUMN pgflurry.namespace.joins_complete_on IS
'WAL timeline on which every database that has joined is known to stand in pgflurry.worker; empty: on a server that tells none. Another one, or NULL: a failover or a restore may have forgotten one, and no database that is not known gets a worker.';
COMMENT ON COLUMN pgflurry.namespace.installed_by IS 'Version of the program that installed the functions last, for messages.';

UPDATE pgflurry.namespace SET joins_complete_on = coalesce(timeline, '') WHERE home IS NULL;
UPDATE pgflurry.namespace AS n SET claim = w.owner FROM pgflurry.worker AS w WHERE n.home IS NULL AND w.worker = n.function_worker;

UPDATE pgflurry.namespace SET worker_oid = 'pgflurry.worker'::regclass;

-- No layout has more bits for the tick; sums of ticks must not overflow, whoever wrote one.
ALTER TABLE pgflurry.worker ADD CONSTRAINT worker_reserved_until_is_a_tick CHECK (reserved_until <= 1::bigint << 43);
ALTER TABLE pgflurry.namespace ADD CONSTRAINT namespace_acquire_after_is_a_tick CHECK (acquire_after <= 1::bigint << 43);

-- It has two parameters more from here on.
DROP PROCEDURE IF EXISTS pgflurry.create_namespace(uuid, integer, integer, integer, integer, timestamptz, interval, integer, integer, text);

-- Who keeps a lease changes what a lease needs, also where he was granted UPDATE on whole tables, or is a member of
-- pg_write_all_data: only the owner says what a database is, gives a database a worker, and retires one.

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION pgflurry.guard_namespace() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $fn$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        IF (NEW.epoch, NEW.unit, NEW.timestamp_bits, NEW.datacenter_bits, NEW.worker_bits, NEW.sequence_bits, NEW.database_workers, NEW.disposable)
           IS DISTINCT FROM
           (OLD.epoch, OLD.unit, OLD.timestamp_bits, OLD.datacenter_bits, OLD.worker_bits, OLD.sequence_bits, OLD.database_workers, OLD.disposable)
           OR NEW.acquire_after < OLD.acquire_after THEN
            RAISE EXCEPTION 'the layout of a namespace cannot change, nor whether it is disposable, nor can acquire_after be lowered'
                USING ERRCODE = 'restrict_violation',
                      HINT = 'Identifiers of the present layout may exist. Another layout needs another namespace, that is another database.';
        END IF;
        -- what a subscription brings along is true of another database
        IF current_setting('session_replication_role') = 'replica' THEN
            RETURN NULL;
        END IF;
        IF to_jsonb(NEW) - '{timeline,acquire_after}'::text[] <> to_jsonb(OLD) - '{timeline,acquire_after}'::text[]
           AND NOT pg_has_role((SELECT relowner FROM pg_class WHERE oid = TG_RELID), 'USAGE') THEN
            RAISE EXCEPTION 'role % may change timeline and acquire_after of pgflurry.namespace, and nothing else', current_user
                USING ERRCODE = 'insufficient_privilege',
                      HINT = 'The rest says which database this is. Run "pgflurry migrate up" as the owner of the schema.';
        END IF;
        RETURN NEW;
    END IF;
    RAISE EXCEPTION '% on pgflurry.namespace is refused: generators check themselves against it', TG_OP
        USING ERRCODE = 'restrict_violation',
              HINT = 'To remove everything run "pgflurry migrate down".';
END $fn$;
-- +goose StatementEnd

COMMENT ON FUNCTION pgflurry.guard_namespace() IS
'Refuses, with SQLSTATE 23001, to change the layout, to lower acquire_after, to delete or to truncate the namespace; with 42501 to change more than a lease needs, but for the owner.';

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION pgflurry.guard_worker() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $fn$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        IF NEW.reserved_until < OLD.reserved_until OR NEW.worker <> OLD.worker
           OR NEW.kind <> OLD.kind OR NEW.term < OLD.term THEN
            RAISE EXCEPTION 'worker % may not go back: reserved_until % to %, term % to %',
                OLD.worker, OLD.reserved_until, NEW.reserved_until, OLD.term, NEW.term
                USING ERRCODE = 'restrict_violation',
                      HINT = 'Identifiers up to the mark may exist. To stop the use of a worker run "pgflurry workers retire".';
        END IF;
        IF current_setting('session_replication_role') = 'replica' THEN
            RETURN NULL;  -- what a subscription brings along is true of another database
        END IF;
        IF (NEW.kind = 'database' OR NEW.retired_at IS DISTINCT FROM OLD.retired_at)
           AND NOT pg_has_role((SELECT relowner FROM pg_class WHERE oid = TG_RELID), 'USAGE') THEN
            RAISE EXCEPTION 'role % may neither retire worker % nor change that of a database', current_user, OLD.worker
                USING ERRCODE = 'insufficient_privilege',
                      HINT = 'Run "pgflurry workers retire" or "pgflurry migrate up" as the owner of the schema.';
        END IF;
        RETURN NEW;
    END IF;
    RAISE EXCEPTION '% on pgflurry.worker is refused: the rows remember which identifiers may exist', TG_OP
        USING ERRCODE = 'restrict_violation',
              HINT = 'To stop the use of a worker run "pgflurry workers retire"; to remove everything run "pgflurry migrate down".';
END $fn$;
-- +goose StatementEnd

COMMENT ON FUNCTION pgflurry.guard_worker() IS
'Refuses, with SQLSTATE 23001, to lower a mark or a term, to renumber, to delete or to truncate workers; with 42501 to retire one or to change a database''s, but for the owner.';

-- +goose Down
-- The guards go with 00001.
ALTER TABLE pgflurry.worker DROP CONSTRAINT worker_reserved_until_is_a_tick;
ALTER TABLE pgflurry.namespace DROP CONSTRAINT namespace_acquire_after_is_a_tick, DROP COLUMN disposable, DROP COLUMN worker_oid, DROP COLUMN claim, DROP COLUMN joins_complete_on, DROP COLUMN installed_by;
