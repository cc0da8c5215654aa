-- +goose Up

-- Schema pgflurry holds everything but the callable functions, which live in public (sqlfuncs/).
-- CREATE SCHEMA itself is done before the first migration, because the migration table lives in it.

-- One ID space: every generator checks itself against this row's id.
-- Times called "ticks" are whole units since epoch; see docs of generator.Layout.
CREATE TABLE pgflurry.namespace (
    only_row          boolean     NOT NULL DEFAULT true
        CONSTRAINT namespace_pkey PRIMARY KEY
        CONSTRAINT namespace_has_one_row CHECK (only_row),
    id                uuid        NOT NULL,
    epoch             timestamptz NOT NULL,
    unit              interval    NOT NULL
        CONSTRAINT namespace_unit_is_1ms_to_1s CHECK (unit BETWEEN '1 ms' AND '1 s'
            AND mod(extract(microseconds FROM unit)::bigint, 1000) = 0),
    timestamp_bits    smallint    NOT NULL
        CONSTRAINT namespace_timestamp_bits_range CHECK (timestamp_bits BETWEEN 28 AND 43),
    datacenter_bits   smallint    NOT NULL
        CONSTRAINT namespace_datacenter_bits_range CHECK (datacenter_bits BETWEEN 0 AND 15),
    worker_bits       smallint    NOT NULL
        CONSTRAINT namespace_worker_bits_range CHECK (worker_bits BETWEEN 1 AND 16),
    sequence_bits     smallint    NOT NULL
        CONSTRAINT namespace_sequence_bits_range CHECK (sequence_bits BETWEEN 1 AND 22),
    -- workers 0 … database_workers - 1 belong to database functions, one for each database that holds the function
    database_workers  integer     NOT NULL,
    -- the worker written into the text of this database's function
    function_worker   integer     NOT NULL,
    max_window        interval    NOT NULL DEFAULT '60 s',
    skew              interval    NOT NULL DEFAULT '2 s',
    quarantine        interval    NOT NULL DEFAULT '120 s',
    -- WAL timeline seen last (8 hex digits); NULL where the server does not tell it
    timeline          text
        CONSTRAINT namespace_timeline_is_hex CHECK (timeline ~ '^[0-9A-F]{8}$'),
    -- ticks; before it no proxy worker is granted (set when the timeline changed, and by reseed)
    acquire_after     bigint      NOT NULL DEFAULT 0,
    -- which database this row was written in: a copy carries the row, but not these facts
    system_identifier bigint,
    database_oid      oid         NOT NULL,
    namespace_oid     oid         NOT NULL,
    database_name     name        NOT NULL,
    -- where the worker rows are; NULL: here. A database with a home elsewhere has no worker rows to grant
    home              text
        CONSTRAINT namespace_home_length CHECK (length(home) BETWEEN 1 AND 255),
    created_at        timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT namespace_bits_fit CHECK (timestamp_bits + datacenter_bits + worker_bits + sequence_bits <= 63),
    CONSTRAINT namespace_worker_at_most_16_bits CHECK (datacenter_bits + worker_bits <= 16),
    CONSTRAINT namespace_database_workers_leave_room
        CHECK (database_workers BETWEEN 1 AND (1 << (datacenter_bits + worker_bits)) - 1),
    CONSTRAINT namespace_function_worker_is_a_database_worker
        CHECK (function_worker BETWEEN 0 AND database_workers - 1),
    CONSTRAINT namespace_windows_positive CHECK (max_window > '0' AND skew > '0'),
    CONSTRAINT namespace_quarantine_outlives_a_window CHECK (quarantine >= max_window + 2 * skew)
);

COMMENT ON TABLE pgflurry.namespace IS
'One ID space, one row. Every generator of the space checks itself against id. The layout (epoch, unit, bit widths) cannot change once the row exists.';
COMMENT ON COLUMN pgflurry.namespace.only_row IS 'Always true: keeps the table at one row.';
COMMENT ON COLUMN pgflurry.namespace.id IS 'Identity of the ID space, random. Databases and proxies with the same id share one space.';
COMMENT ON COLUMN pgflurry.namespace.epoch IS 'The instant of tick 0.';
COMMENT ON COLUMN pgflurry.namespace.unit IS 'Length of a tick: whole milliseconds, 1 ms to 1 s.';
COMMENT ON COLUMN pgflurry.namespace.timestamp_bits IS 'Bits of the tick in an ID, 28 to 43; they are the highest bits below the sign.';
COMMENT ON COLUMN pgflurry.namespace.datacenter_bits IS 'Upper bits of the worker that name a datacenter, 0 to 15; 0 where datacenters are not told apart.';
COMMENT ON COLUMN pgflurry.namespace.worker_bits IS 'Lower bits of the worker, 1 to 16; with datacenter_bits at most 16.';
COMMENT ON COLUMN pgflurry.namespace.sequence_bits IS 'Bits that count the IDs of one worker within one tick, 1 to 22; the lowest bits of an ID.';
COMMENT ON COLUMN pgflurry.namespace.database_workers IS 'Workers 0 to database_workers - 1 are for database functions, one for each database of the namespace; the others are for proxies.';
COMMENT ON COLUMN pgflurry.namespace.function_worker IS 'The worker in the IDs of this database''s own next_snowflake().';
COMMENT ON COLUMN pgflurry.namespace.max_window IS 'How far ahead of the database''s clock a renewal may reserve, at most.';
COMMENT ON COLUMN pgflurry.namespace.skew IS 'By how much the clocks of two servers of this database (before and after a failover) are assumed to differ, at most.';
COMMENT ON COLUMN pgflurry.namespace.quarantine IS 'How long a worker that was not released rests after its mark; at least max_window + 2 * skew.';
COMMENT ON COLUMN pgflurry.namespace.timeline IS 'WAL timeline seen last, 8 hex digits; NULL where the server does not tell. Another one means a promotion or a restore.';
COMMENT ON COLUMN pgflurry.namespace.acquire_after IS 'Tick before which no proxy worker is granted; set when the timeline changed, and by reseed. Never falls.';
COMMENT ON COLUMN pgflurry.namespace.system_identifier IS 'Server cluster this row was written in; NULL where the server does not tell. A copy of the database carries the row but is not that cluster.';
COMMENT ON COLUMN pgflurry.namespace.database_oid IS 'Database this row was written in, pg_database.oid; a copy has another.';
COMMENT ON COLUMN pgflurry.namespace.namespace_oid IS 'This table when the row was written, pg_class.oid: a dump that was restored into the same database has made another; pg_upgrade keeps it.';
COMMENT ON COLUMN pgflurry.namespace.database_name IS 'Name of that database when the row was written, for messages only.';
COMMENT ON COLUMN pgflurry.namespace.home IS 'Where the worker rows of this namespace are, for messages only; NULL: in this database. Elsewhere means: no worker is granted from here.';
COMMENT ON COLUMN pgflurry.namespace.created_at IS 'When the row was written.';

-- One row per worker, all made when the namespace is made, so that taking a worker is always an UPDATE.
-- fillfactor 50: a renewal stays on its page (HOT), so an idle proxy leaves no index bloat.
CREATE TABLE pgflurry.worker (
    worker         integer NOT NULL CONSTRAINT worker_pkey PRIMARY KEY
        CONSTRAINT worker_number_range CHECK (worker BETWEEN 0 AND 65535),
    kind           text    NOT NULL CONSTRAINT worker_kind_known CHECK (kind IN ('proxy', 'database')),
    -- proxy: random, new for each acquisition. database: the holder's identity
    owner          uuid,
    -- raised by each acquisition
    term           bigint  NOT NULL DEFAULT 0 CONSTRAINT worker_term_range CHECK (term >= 0),
    -- ticks, exclusive: no ID of this worker at or after it may exist
    reserved_until bigint  NOT NULL DEFAULT 0 CONSTRAINT worker_reserved_until_range CHECK (reserved_until >= 0),
    released_at    timestamptz,
    retired_at     timestamptz,
    node           text    CONSTRAINT worker_node_length CHECK (length(node) BETWEEN 1 AND 255),
    address        text    CONSTRAINT worker_address_length CHECK (length(address) <= 255),
    version        text    CONSTRAINT worker_version_length CHECK (length(version) <= 255),
    acquired_at    timestamptz,
    renewed_at     timestamptz,
    CONSTRAINT worker_held_has_owner CHECK ((owner IS NULL) = (term = 0))
) WITH (fillfactor = 50);

COMMENT ON TABLE pgflurry.worker IS
'One row for each number that datacenter and worker bits can hold: who may issue IDs with it, and up to which tick IDs with it may exist. Rows are updated only: never deleted, their marks never lowered.';
COMMENT ON COLUMN pgflurry.worker.worker IS 'The number in datacenter and worker bits together.';
COMMENT ON COLUMN pgflurry.worker.kind IS 'proxy: leased by proxies. database: written into the function of one database, for good.';
COMMENT ON COLUMN pgflurry.worker.owner IS 'Who holds it: proxy: random, new for each acquisition; database: random, made when the function was installed. NULL: never used.';
COMMENT ON COLUMN pgflurry.worker.term IS 'Raised by each acquisition; 0: never used.';
COMMENT ON COLUMN pgflurry.worker.reserved_until IS 'Tick, exclusive: no ID of this worker at or after it may exist. Of a database worker only what a former namespace may have issued with it: its function keeps its own mark (sequence pgflurry.mark of its database).';
COMMENT ON COLUMN pgflurry.worker.released_at IS 'When the last holder gave it back in order; NULL while held, or if the holder vanished.';
COMMENT ON COLUMN pgflurry.worker.retired_at IS 'When it was taken out of use for good; NULL: in use.';
COMMENT ON COLUMN pgflurry.worker.node IS 'Name of the holder: the node of a proxy, or the database of a function.';
COMMENT ON COLUMN pgflurry.worker.address IS 'Where the holder can be reached, for people.';
COMMENT ON COLUMN pgflurry.worker.version IS 'Version of the holder, for people.';
COMMENT ON COLUMN pgflurry.worker.acquired_at IS 'When the present or last holder took it.';
COMMENT ON COLUMN pgflurry.worker.renewed_at IS 'When the present or last holder last raised reserved_until.';

-- +goose StatementBegin
-- A mark that falls, or a row that vanishes, is a duplicate ID later on; nobody may do it, whatever his rights.
CREATE FUNCTION pgflurry.guard_worker() RETURNS trigger
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
        RETURN NEW;
    END IF;
    RAISE EXCEPTION '% on pgflurry.worker is refused: the rows remember which identifiers may exist', TG_OP
        USING ERRCODE = 'restrict_violation',
              HINT = 'To stop the use of a worker run "pgflurry workers retire"; to remove everything run "pgflurry migrate down".';
END $fn$;
-- +goose StatementEnd

COMMENT ON FUNCTION pgflurry.guard_worker() IS 'Refuses, with SQLSTATE 23001, to lower a mark or a term, to renumber, to delete or to truncate workers.';

CREATE TRIGGER guard_worker BEFORE UPDATE OR DELETE ON pgflurry.worker
    FOR EACH ROW EXECUTE FUNCTION pgflurry.guard_worker();
CREATE TRIGGER guard_worker_truncate BEFORE TRUNCATE ON pgflurry.worker
    FOR EACH STATEMENT EXECUTE FUNCTION pgflurry.guard_worker();
ALTER TABLE pgflurry.worker ENABLE ALWAYS TRIGGER guard_worker;
ALTER TABLE pgflurry.worker ENABLE ALWAYS TRIGGER guard_worker_truncate;

-- +goose StatementBegin
-- Once the row exists an ID may exist, so what an ID means can no longer change.
CREATE FUNCTION pgflurry.guard_namespace() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $fn$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        IF (NEW.epoch, NEW.unit, NEW.timestamp_bits, NEW.datacenter_bits, NEW.worker_bits, NEW.sequence_bits, NEW.database_workers)
           IS DISTINCT FROM
           (OLD.epoch, OLD.unit, OLD.timestamp_bits, OLD.datacenter_bits, OLD.worker_bits, OLD.sequence_bits, OLD.database_workers)
           OR NEW.acquire_after < OLD.acquire_after THEN
            RAISE EXCEPTION 'the layout of a namespace cannot change, nor can acquire_after be lowered'
                USING ERRCODE = 'restrict_violation',
                      HINT = 'Identifiers of the present layout may exist. Another layout needs another namespace, that is another database.';
        END IF;
        RETURN NEW;
    END IF;
    RAISE EXCEPTION '% on pgflurry.namespace is refused: generators check themselves against it', TG_OP
        USING ERRCODE = 'restrict_violation',
              HINT = 'To remove everything run "pgflurry migrate down".';
END $fn$;
-- +goose StatementEnd

COMMENT ON FUNCTION pgflurry.guard_namespace() IS 'Refuses, with SQLSTATE 23001, to change the layout, to lower acquire_after, to delete or to truncate the namespace.';

CREATE TRIGGER guard_namespace BEFORE UPDATE OR DELETE ON pgflurry.namespace
    FOR EACH ROW EXECUTE FUNCTION pgflurry.guard_namespace();
CREATE TRIGGER guard_namespace_truncate BEFORE TRUNCATE ON pgflurry.namespace
    FOR EACH STATEMENT EXECUTE FUNCTION pgflurry.guard_namespace();
ALTER TABLE pgflurry.namespace ENABLE ALWAYS TRIGGER guard_namespace;
ALTER TABLE pgflurry.namespace ENABLE ALWAYS TRIGGER guard_namespace_truncate;

-- +goose Down
DROP TABLE pgflurry.worker;
DROP TABLE pgflurry.namespace;
DROP FUNCTION pgflurry.guard_worker();
DROP FUNCTION pgflurry.guard_namespace();
