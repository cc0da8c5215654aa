-- Schema pgflurry holds everything but the functions that applications call by a short name: those live in public.
-- The functions are in package sqlfuncs, with the triggers that guard the tables. The schema and the table
-- pgflurry.migration are there already.

-- pgflurry and public hold functions for everybody. The tables keep their rights to themselves.
GRANT USAGE ON SCHEMA pgflurry TO PUBLIC;


-- The ID space of this database: one row, and every generator checks itself against its id.
-- Times called ticks are whole units since epoch: see generator.Layout.
CREATE TABLE pgflurry.namespace (
    only_row          boolean     NOT NULL DEFAULT true
        CONSTRAINT namespace_pkey PRIMARY KEY
        CONSTRAINT namespace_has_one_row CHECK (only_row),
    id                uuid        NOT NULL,
    disposable        boolean     NOT NULL DEFAULT false,
    region            smallint
        CONSTRAINT namespace_region_is_a_datacenter CHECK (region IS NULL
            OR datacenter_bits > 0 AND region BETWEEN 0 AND (1 << datacenter_bits) - 1),
    -- the layout of an ID
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
    -- who draws: the functions of databases, and this one's
    database_workers  integer     NOT NULL,
    function_worker   integer     NOT NULL,
    function_workers  int4multirange NOT NULL,
    foreign_workers   int4multirange NOT NULL DEFAULT '{}',
    claim             uuid        NOT NULL,
    home              text
        CONSTRAINT namespace_home_length CHECK (length(home) BETWEEN 1 AND 255),
    joins_complete_on text,
    -- how leases are granted
    max_window        interval    NOT NULL DEFAULT '60 s',
    skew              interval    NOT NULL DEFAULT '2 s',
    quarantine        interval    NOT NULL DEFAULT '120 s',
    timeline          text
        CONSTRAINT namespace_timeline_is_hex CHECK (timeline ~ '^[0-9A-F]{8}$'),
    acquire_after     bigint      NOT NULL DEFAULT 0
        -- no layout has more bits for the tick; sums of ticks must not overflow, whoever wrote one
        CONSTRAINT namespace_acquire_after_is_a_tick CHECK (acquire_after <= 1::bigint << 43),
    restart_quarantine interval
        CONSTRAINT namespace_restart_quarantine_range CHECK (restart_quarantine BETWEEN '0' AND '366 days'),
    gate_by           text,
    server            jsonb
        CONSTRAINT namespace_server_is_an_object CHECK (jsonb_typeof(server) = 'object'),
    new_server        text        NOT NULL DEFAULT 'warn'
        CONSTRAINT namespace_new_server_known CHECK (new_server IN ('warn', 'refuse')),
    -- what an operator has said of this database
    generation        bigint      NOT NULL DEFAULT 1
        CONSTRAINT namespace_generation_range CHECK (generation > 0),
    closed_at         timestamptz,
    -- which database the row was written in: a copy carries the row, but not these facts (namespace/doc.go)
    system_identifier bigint,
    database_oid      oid         NOT NULL,
    namespace_oid     oid         NOT NULL,
    worker_oid        oid         NOT NULL,
    database_name     name        NOT NULL,
    installed_by      text
        CONSTRAINT namespace_installed_by_length CHECK (length(installed_by) <= 255),
    born              timestamptz,
    CONSTRAINT namespace_bits_fit CHECK (timestamp_bits + datacenter_bits + worker_bits + sequence_bits <= 63),
    CONSTRAINT namespace_worker_at_most_16_bits CHECK (datacenter_bits + worker_bits <= 16),
    CONSTRAINT namespace_database_workers_leave_room CHECK (database_workers
        BETWEEN 1 AND (1 << (CASE WHEN region IS NULL THEN datacenter_bits ELSE 0 END + worker_bits)) - 1),
    CONSTRAINT namespace_function_worker_is_a_database_worker CHECK (function_worker <@ function_workers),
    CONSTRAINT namespace_foreign_workers_are_no_functions CHECK (NOT foreign_workers && function_workers),
    CONSTRAINT namespace_windows_positive CHECK (max_window > '0' AND skew > '0'),
    CONSTRAINT namespace_quarantine_outlives_a_window CHECK (quarantine >= max_window + 2 * skew),
    -- the same in whole ticks: each of the three lengths is rounded up
    CONSTRAINT namespace_quarantine_outlives_a_window_in_ticks CHECK (
        ceil(extract(epoch FROM quarantine) / extract(epoch FROM unit))
            >= ceil(extract(epoch FROM max_window) / extract(epoch FROM unit))
               + 2 * ceil(extract(epoch FROM skew) / extract(epoch FROM unit)))
);

COMMENT ON TABLE pgflurry.namespace IS
'One ID space, one row. Every generator of the space checks itself against id. '
'The layout (epoch, unit, bit widths) cannot change once the row exists.';
COMMENT ON COLUMN pgflurry.namespace.only_row IS 'Always true: keeps the table at one row.';
COMMENT ON COLUMN pgflurry.namespace.id IS
'Identity of the ID space, random. Databases and proxies with the same id share one space.';
COMMENT ON COLUMN pgflurry.namespace.disposable IS
'Whether copies of this database draw with its worker, as the copies of a test suite''s template do. '
'For tests only: their IDs are equal to those of the template. Chosen with the namespace.';
COMMENT ON COLUMN pgflurry.namespace.region IS
'The datacenter number whose workers this database, and those that join it, have for themselves; '
'NULL: the ID space has no regions, and its one home has all workers. '
'Databases of other regions are not known here: no two may have one number.';
COMMENT ON COLUMN pgflurry.namespace.epoch IS 'The instant of tick 0.';
COMMENT ON COLUMN pgflurry.namespace.unit IS 'Length of a tick: whole milliseconds, 1 ms to 1 s.';
COMMENT ON COLUMN pgflurry.namespace.timestamp_bits IS
'Bits of the tick in an ID, 28 to 43; they are the highest bits below the sign.';
COMMENT ON COLUMN pgflurry.namespace.datacenter_bits IS
'Upper bits of the worker that name a datacenter, 0 to 15; 0 where datacenters are not told apart.';
COMMENT ON COLUMN pgflurry.namespace.worker_bits IS
'Lower bits of the worker, 1 to 16; with datacenter_bits at most 16.';
COMMENT ON COLUMN pgflurry.namespace.sequence_bits IS
'Bits that count the IDs of one worker within one tick, 1 to 22; the lowest bits of an ID.';
COMMENT ON COLUMN pgflurry.namespace.database_workers IS
'How many workers, of the region or of all, are for database functions, one for each database of the namespace.';
COMMENT ON COLUMN pgflurry.namespace.function_worker IS
'The worker in the IDs of this database''s own next_snowflake().';
COMMENT ON COLUMN pgflurry.namespace.function_workers IS
'Which workers are for database functions: the first database_workers that are not foreign. Never changes.';
COMMENT ON COLUMN pgflurry.namespace.foreign_workers IS
'Workers of the whole ID space with which a generator of another kind gives IDs: no proxy and no function gets one. '
'Said when the space is made. Never changes.';
COMMENT ON COLUMN pgflurry.namespace.claim IS
'Owner in the row of function_worker, in the home: it tells this claim from every other one. '
'A physical copy has it too.';
COMMENT ON COLUMN pgflurry.namespace.home IS
'Where the worker rows of this namespace, or of its region, are, for messages only; NULL: in this database. '
'Elsewhere means: no worker is granted from here.';
COMMENT ON COLUMN pgflurry.namespace.joins_complete_on IS
'Life of the server (pgflurry.server_life()) in which every database that has joined is known to stand in '
'pgflurry.worker. Another one, or NULL: a failover, a restart or a restore may have forgotten one, '
'and no database that is not known gets a worker.';
COMMENT ON COLUMN pgflurry.namespace.max_window IS
'How far ahead of the database''s clock a renewal may reserve, at most.';
COMMENT ON COLUMN pgflurry.namespace.skew IS
'By how much the clocks of two servers of this database (before and after a failover) are assumed to differ, at most.';
COMMENT ON COLUMN pgflurry.namespace.quarantine IS
'How long a worker that was not released rests after its mark; at least max_window + 2 * skew.';
COMMENT ON COLUMN pgflurry.namespace.timeline IS
'WAL timeline seen last, 8 hex digits; NULL where the server does not tell. '
'Another one means a promotion or a restore.';
COMMENT ON COLUMN pgflurry.namespace.acquire_after IS
'Tick before which no proxy worker is granted; set when the timeline changed, and by reseed. Never falls.';
COMMENT ON COLUMN pgflurry.namespace.restart_quarantine IS
'How long no worker is granted after a start of the server, which may have forgotten grants. '
'NULL: max_window + 2 * skew. 0 says that a restart of this server never forgets anything. '
'It is said of the server in column server, and is dropped when another one takes its place.';
COMMENT ON COLUMN pgflurry.namespace.gate_by IS
'Who closed the gate last, and when, for people.';
COMMENT ON COLUMN pgflurry.namespace.server IS
'What is known of the server: what it tells (pgflurry.this_server()), '
'and reached: the addresses by which proxies and commands have reached it. NULL: nothing yet. '
'A copy of the server''s files has it, too, but is another one (pgflurry.new_server()).';
COMMENT ON COLUMN pgflurry.namespace.new_server IS
'What happens on a server that is not known. warn: it is told. '
'refuse: no proxy gets a worker, and the function gives no ID, until the operator says what the database is.';
COMMENT ON COLUMN pgflurry.namespace.generation IS
'Rises when an operator says what this database is (move, separate, reseed, close). '
'A restore in place changes nothing else for sure.';
COMMENT ON COLUMN pgflurry.namespace.closed_at IS
'When "pgflurry namespace close" closed the database; NULL: it is not closed.';
COMMENT ON COLUMN pgflurry.namespace.system_identifier IS
'Server cluster this row was written in; NULL where the server does not tell. '
'A copy of the database carries the row but is not that cluster.';
COMMENT ON COLUMN pgflurry.namespace.database_oid IS
'Database this row was written in, pg_database.oid; a copy has another.';
COMMENT ON COLUMN pgflurry.namespace.namespace_oid IS
'This table when the row was written, pg_class.oid: '
'a dump that was restored into the same database has made another; pg_upgrade keeps it.';
COMMENT ON COLUMN pgflurry.namespace.worker_oid IS
'Table pgflurry.worker when the row was written, pg_class.oid: '
'a dump of that table alone, restored, has made another.';
COMMENT ON COLUMN pgflurry.namespace.database_name IS
'Name of that database when the row was written, for messages only.';
COMMENT ON COLUMN pgflurry.namespace.installed_by IS
'Version of the program that installed the functions last, for messages.';
COMMENT ON COLUMN pgflurry.namespace.born IS
'Start of the server that wrote the row: in this life of it nothing can be forgotten. NULL: not known.';


-- Who may issue IDs with which worker: one row per worker, all made when the namespace is made.
-- So taking a worker is always an UPDATE. With fillfactor 50 a renewal stays on its page (HOT), and an idle proxy
-- leaves no index bloat.
CREATE TABLE pgflurry.worker (
    worker         integer NOT NULL
        CONSTRAINT worker_pkey PRIMARY KEY
        CONSTRAINT worker_number_range CHECK (worker BETWEEN 0 AND 65535),
    kind           text    NOT NULL
        CONSTRAINT worker_kind_known CHECK (kind IN ('proxy', 'database', 'foreign')),
    owner          uuid,
    term           bigint  NOT NULL DEFAULT 0
        CONSTRAINT worker_term_range CHECK (term >= 0),
    reserved_until bigint  NOT NULL DEFAULT 0
        CONSTRAINT worker_reserved_until_range CHECK (reserved_until >= 0)
        CONSTRAINT worker_reserved_until_is_a_tick CHECK (reserved_until <= 1::bigint << 43),
    released_at    timestamptz,
    retired_at     timestamptz,
    node           text
        CONSTRAINT worker_node_length CHECK (length(node) BETWEEN 1 AND 255),
    address        text
        CONSTRAINT worker_address_length CHECK (length(address) <= 255),
    version        text
        CONSTRAINT worker_version_length CHECK (length(version) <= 255),
    acquired_at    timestamptz,
    renewed_at     timestamptz,
    CONSTRAINT worker_held_has_owner CHECK ((owner IS NULL) = (term = 0))
) WITH (fillfactor = 50);

COMMENT ON TABLE pgflurry.worker IS
'One row for each number that datacenter and worker bits can hold, in a region for each of its own: '
'who may issue IDs with it, and up to which tick IDs with it may exist. '
'Rows are updated only: never deleted, their marks never lowered.';
COMMENT ON COLUMN pgflurry.worker.worker IS 'The number in datacenter and worker bits together.';
COMMENT ON COLUMN pgflurry.worker.kind IS
'proxy: leased by proxies. database: written into the function of one database, for good. '
'foreign: a generator of another kind gives IDs with it. It follows from the namespace row.';
COMMENT ON COLUMN pgflurry.worker.owner IS
'Who holds it: proxy: random, new for each acquisition; database: random, made when the function was installed. '
'NULL: never used.';
COMMENT ON COLUMN pgflurry.worker.term IS 'Raised by each acquisition; 0: never used.';
COMMENT ON COLUMN pgflurry.worker.reserved_until IS
'Tick, exclusive: no ID of this worker at or after it may exist. '
'Of a database worker only what a former namespace may have issued with it: '
'its function keeps its own mark (sequence pgflurry.mark of its database).';
COMMENT ON COLUMN pgflurry.worker.released_at IS
'When the last holder gave it back in order; NULL while held, or if the holder vanished.';
COMMENT ON COLUMN pgflurry.worker.retired_at IS 'When it was taken out of use for good; NULL: in use.';
COMMENT ON COLUMN pgflurry.worker.node IS 'Name of the holder: the node of a proxy, or the database of a function.';
COMMENT ON COLUMN pgflurry.worker.address IS 'Where the holder can be reached, for people.';
COMMENT ON COLUMN pgflurry.worker.version IS 'Version of the holder, for people.';
COMMENT ON COLUMN pgflurry.worker.acquired_at IS 'When the present or last holder took it.';
COMMENT ON COLUMN pgflurry.worker.renewed_at IS 'When the present or last holder last raised reserved_until.';


-- Who held a worker before its present holder: an ID names a worker and a time, and this says whose it was.
CREATE TABLE pgflurry.worker_history (
    worker         integer NOT NULL,
    term           bigint  NOT NULL
        CONSTRAINT worker_history_term_range CHECK (term > 0),
    kind           text    NOT NULL,
    node           text,
    address        text,
    version        text,
    acquired_at    timestamptz,
    renewed_at     timestamptz,
    released_at    timestamptz,
    reserved_until bigint  NOT NULL,
    CONSTRAINT worker_history_pkey PRIMARY KEY (worker, term)
);

COMMENT ON TABLE pgflurry.worker_history IS
'Former holders of workers, the last 100 of each. '
'Written by a trigger when another takes the worker; nothing depends on it.';
COMMENT ON COLUMN pgflurry.worker_history.worker IS 'The number in datacenter and worker bits together.';
COMMENT ON COLUMN pgflurry.worker_history.term IS 'Which acquisition of the worker it was.';
COMMENT ON COLUMN pgflurry.worker_history.kind IS 'proxy or database, as in pgflurry.worker.';
COMMENT ON COLUMN pgflurry.worker_history.node IS
'Name of the holder: the node of a proxy, or the database of a function.';
COMMENT ON COLUMN pgflurry.worker_history.address IS 'Where the holder could be reached, for people.';
COMMENT ON COLUMN pgflurry.worker_history.version IS 'Version of the holder, for people.';
COMMENT ON COLUMN pgflurry.worker_history.acquired_at IS 'When it took the worker.';
COMMENT ON COLUMN pgflurry.worker_history.renewed_at IS 'When it last raised reserved_until.';
COMMENT ON COLUMN pgflurry.worker_history.released_at IS
'When it gave the worker back in order; NULL: it vanished, or lost it.';
COMMENT ON COLUMN pgflurry.worker_history.reserved_until IS
'Tick, exclusive: no ID of this holder at or after it exists. Of a function: see pgflurry.worker.';

-- With the owner's rights, so that a role that may take a worker can remember nothing but that.
CREATE FUNCTION pgflurry.remember_holder() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $fn$
BEGIN
    INSERT INTO pgflurry.worker_history (worker, term, kind, node, address, version,
            acquired_at, renewed_at, released_at, reserved_until)
        VALUES (OLD.worker, OLD.term, OLD.kind, OLD.node, OLD.address, OLD.version,
            OLD.acquired_at, OLD.renewed_at, OLD.released_at, OLD.reserved_until)
        ON CONFLICT (worker, term) DO NOTHING;
    DELETE FROM pgflurry.worker_history AS h WHERE h.worker = OLD.worker AND h.term <= OLD.term - 100;
    RETURN NULL;
END $fn$;
COMMENT ON FUNCTION pgflurry.remember_holder() IS
'Puts the former holder of a worker into pgflurry.worker_history when another takes it.';
REVOKE ALL ON FUNCTION pgflurry.remember_holder() FROM PUBLIC;

-- A reseed leaves no renewed_at, and nobody who holds the worker.
CREATE TRIGGER remember_holder AFTER UPDATE OF term ON pgflurry.worker
    FOR EACH ROW
    WHEN (OLD.term > 0 AND NEW.term > OLD.term AND (OLD.kind = 'database' OR OLD.renewed_at IS NOT NULL))
    EXECUTE FUNCTION pgflurry.remember_holder();


-- What next_snowflake() of this database remembers across a crash.
-- Its unlogged sequence pgflurry.lane begins at a value that depends on the layout:
-- pgflurry.install_next_snowflake() makes it.
CREATE SEQUENCE pgflurry.mark AS bigint MINVALUE 0 START 0 CACHE 1 NO CYCLE;
COMMENT ON SEQUENCE pgflurry.mark IS
'Tick, exclusive: no ID of this database''s function at or after it may exist. '
'Logged before any ID that it covers. Never lower it.';

CREATE SEQUENCE pgflurry.function_timeline AS bigint MINVALUE 0 START 0 CACHE 1 NO CYCLE;
COMMENT ON SEQUENCE pgflurry.function_timeline IS
'WAL timeline, as a number, on which the function last started; 0: none. '
'Another one than the server''s means that marks may have been lost.';

-- Any role may take an advisory lock, but only the owner may lock this. A view can be locked by name, and has nothing
-- to maintain: ANALYZE of a table in a long transaction would hold its lock, and stop all draws.
CREATE VIEW pgflurry.function_lock AS SELECT 1 AS x;
COMMENT ON VIEW pgflurry.function_lock IS
'Locked by next_snowflake() while it starts a new tick. A view, so nothing that maintains tables locks it.';
COMMENT ON COLUMN pgflurry.function_lock.x IS 'Never used.';

-- The same three things for the stand-in of next_snowflake(): the second lane, which draws while a session holds the
-- first one's lock and does not go on.
CREATE SEQUENCE pgflurry.mark_stand_in AS bigint MINVALUE 0 START 0 CACHE 1 NO CYCLE;
COMMENT ON SEQUENCE pgflurry.mark_stand_in IS
'Tick, exclusive: no ID of the stand-in at or after it may exist. As pgflurry.mark.';

CREATE SEQUENCE pgflurry.function_timeline_stand_in AS bigint MINVALUE 0 START 0 CACHE 1 NO CYCLE;
COMMENT ON SEQUENCE pgflurry.function_timeline_stand_in IS
'WAL timeline on which the stand-in last started. As pgflurry.function_timeline.';

CREATE VIEW pgflurry.function_lock_stand_in AS SELECT 1 AS x;
COMMENT ON VIEW pgflurry.function_lock_stand_in IS
'Locked by the stand-in of next_snowflake() while it starts a new tick. A view, as pgflurry.function_lock.';
COMMENT ON COLUMN pgflurry.function_lock_stand_in.x IS 'Never used.';

REVOKE ALL ON pgflurry.function_lock, pgflurry.function_lock_stand_in FROM PUBLIC;

-- A sequence, because a draw must see it whatever its snapshot is, and because its setting survives a crash.
CREATE SEQUENCE pgflurry.closed AS bigint MINVALUE 0 START 0 CACHE 1 NO CYCLE;
COMMENT ON SEQUENCE pgflurry.closed IS
'0: the database is open. Else "pgflurry namespace close" has closed it, at this generation of its namespace row.';

-- What a step of the server's clock did to next_snowflake(): see pgflurry.snowflake_clock().
-- Sequences, because a count must survive the rollback of the call that failed.
CREATE SEQUENCE pgflurry.clock_waits AS bigint CACHE 1 CYCLE;
COMMENT ON SEQUENCE pgflurry.clock_waits IS
'How many calls of next_snowflake() have waited because the IDs were as far ahead of the clock as they may be: '
'it was set back, or more IDs are asked for than the layout holds.';

CREATE SEQUENCE pgflurry.clock_refusals AS bigint CACHE 1 CYCLE;
COMMENT ON SEQUENCE pgflurry.clock_refusals IS
'How many calls of next_snowflake() have failed because the clock was set back too far to wait for (SNF01).';


-- Blocks of dense numbers per business tag. A proxy reserves a block and gives it out from memory; next_segment() draws
-- from the same row.
-- Tags are one if their bytes are, in every database: collation C.
-- With fillfactor 50 a draw stays on its page (HOT), so the index is left alone.
CREATE TABLE pgflurry.segment (
    biz_tag     text COLLATE "C" NOT NULL
        CONSTRAINT segment_pkey PRIMARY KEY
        CONSTRAINT segment_tag_length CHECK (length(biz_tag) BETWEEN 1 AND 128),
    -- exclusive, as in Leaf, whose rows can be copied as they are
    max_id      bigint      NOT NULL DEFAULT 1
        CONSTRAINT segment_max_id_range CHECK (max_id >= 1),
    step        integer     NOT NULL DEFAULT 100
        CONSTRAINT segment_step_range CHECK (step BETWEEN 1 AND 1000000),
    description text
        CONSTRAINT segment_description_length CHECK (length(description) <= 256),
    update_time timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 50);

COMMENT ON TABLE pgflurry.segment IS
'Counters of next_segment(): one row a business tag, added and removed by hand. '
'A proxy notices a removed tag within a minute; wait that long before adding it anew with smaller numbers.';
COMMENT ON COLUMN pgflurry.segment.biz_tag IS
'What is numbered, such as order: 1 to 128 characters, told apart byte by byte.';
COMMENT ON COLUMN pgflurry.segment.max_id IS
'The next number to be given; those below it may have been. Can be raised by hand, never lowered.';
COMMENT ON COLUMN pgflurry.segment.step IS
'How many numbers a proxy reserves at once, at least: 1 to 1000000. A proxy that ends loses the rest of a block. '
'While blocks last less than 15 minutes, it doubles them by itself.';
COMMENT ON COLUMN pgflurry.segment.description IS 'For people, at most 256 characters.';
COMMENT ON COLUMN pgflurry.segment.update_time IS 'When numbers were last drawn or reserved.';

INSERT INTO pgflurry.segment (biz_tag, description)
    VALUES ('leaf-segment-test', 'to try next_segment()');


-- What the other ways to make an ID remember, from here to the end.
-- Only their functions write here (SECURITY DEFINER): a user needs EXECUTE, and has no right on any of these tables.
-- Collation and fillfactor are as for segments.

-- Counters with increment and offset, as in MySQL.
CREATE TABLE pgflurry.auto_increment (
    name      text COLLATE "C" NOT NULL
        CONSTRAINT auto_increment_pkey PRIMARY KEY
        CONSTRAINT auto_increment_name_length CHECK (length(name) BETWEEN 1 AND 255),
    increment integer NOT NULL DEFAULT 1
        CONSTRAINT auto_increment_increment_is_1_to_65535 CHECK (increment BETWEEN 1 AND 65535),
    "offset"  integer NOT NULL DEFAULT 1
        CONSTRAINT auto_increment_offset_is_1_to_65535 CHECK ("offset" BETWEEN 1 AND 65535),
    last      bigint  NOT NULL DEFAULT 0
        CONSTRAINT auto_increment_last_is_not_negative CHECK (last >= 0)
) WITH (fillfactor = 50);

COMMENT ON TABLE pgflurry.auto_increment IS
'Counters of next_auto_increment(), as auto_increment_increment and auto_increment_offset of MySQL: '
'one row a name, added by hand. '
'Several servers share one series of numbers if each has the same increment, not below their number, '
'and an offset of its own, from 1 to increment.';
COMMENT ON COLUMN pgflurry.auto_increment.name IS 'What is numbered: 1 to 255 characters.';
COMMENT ON COLUMN pgflurry.auto_increment.increment IS
'Distance of two numbers, 1 to 65535: at least the number of servers.';
COMMENT ON COLUMN pgflurry.auto_increment."offset" IS 'First number, 1 to 65535: of this server alone.';
COMMENT ON COLUMN pgflurry.auto_increment.last IS
'The last number given, 0: none. Can be raised by hand, never lowered.';

-- Tickets, drawn as by REPLACE INTO. Each draw deletes one row and inserts one: as many dead rows as draws.
-- A fixed threshold of autovacuum keeps the table small at any rate.
CREATE TABLE pgflurry.replace_sequence (
    seq_id   bigint GENERATED ALWAYS AS IDENTITY
        CONSTRAINT replace_sequence_pkey PRIMARY KEY,
    seq_name text COLLATE "C" NOT NULL
        CONSTRAINT replace_sequence_name_key UNIQUE
        CONSTRAINT replace_sequence_name_length CHECK (length(seq_name) BETWEEN 1 AND 255)
) WITH (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0);

COMMENT ON TABLE pgflurry.replace_sequence IS
'Tickets of next_replace_id(): one row a name, deleted and inserted anew by each draw, as REPLACE INTO of MySQL does.';
COMMENT ON COLUMN pgflurry.replace_sequence.seq_id IS
'The last number of the name. All names draw from one sequence, so no number comes twice.';
COMMENT ON COLUMN pgflurry.replace_sequence.seq_name IS
'Who draws: 1 to 255 characters. Unique, or two draws at once would leave two rows.';
COMMENT ON SEQUENCE pgflurry.replace_sequence_seq_id_seq IS 'Numbers of next_replace_id(), of all names together.';

-- Counters as in Redis.
CREATE TABLE pgflurry.counter (
    key   text COLLATE "C" NOT NULL
        CONSTRAINT counter_pkey PRIMARY KEY
        CONSTRAINT counter_key_length CHECK (length(key) BETWEEN 1 AND 255),
    value bigint NOT NULL
) WITH (fillfactor = 50);

COMMENT ON TABLE pgflurry.counter IS 'Counters of incr() and incrby(): one row a key, made by its first use.';
COMMENT ON COLUMN pgflurry.counter.key IS 'What is counted: 1 to 255 characters.';
COMMENT ON COLUMN pgflurry.counter.value IS 'Its value, any bigint.';

-- Tokens that can be redeemed once.
CREATE TABLE pgflurry.token (
    token      bigint      NOT NULL
        CONSTRAINT token_pkey PRIMARY KEY,
    expires_at timestamptz NOT NULL
);
CREATE INDEX token_expires_at ON pgflurry.token (expires_at);

COMMENT ON TABLE pgflurry.token IS
'Tokens of issue_token() that were not redeemed; clean_tokens() removes those that have expired.';
COMMENT ON COLUMN pgflurry.token.token IS 'An ID of next_snowflake().';
COMMENT ON COLUMN pgflurry.token.expires_at IS
'From this instant on, by the server''s clock, it cannot be redeemed.';

-- Locks with a fencing token that outlive a session.
CREATE TABLE pgflurry.lock (
    name       text COLLATE "C" NOT NULL
        CONSTRAINT lock_pkey PRIMARY KEY
        CONSTRAINT lock_name_length CHECK (length(name) BETWEEN 1 AND 255),
    owner      text COLLATE "C"
        CONSTRAINT lock_owner_length CHECK (length(owner) BETWEEN 1 AND 255),
    fencing    bigint,
    expires_at timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 50);

COMMENT ON TABLE pgflurry.lock IS
'Locks of try_lock(); clean_locks() removes the rows of those that have been free for a minute.';
COMMENT ON COLUMN pgflurry.lock.name IS 'What is locked: 1 to 255 characters.';
COMMENT ON COLUMN pgflurry.lock.owner IS
'Who took it, as he calls himself: 1 to 255 characters. NULL: it was unlocked.';
COMMENT ON COLUMN pgflurry.lock.fencing IS
'Fencing token of the last taking, an ID of next_snowflake(); NULL: never taken.';
COMMENT ON COLUMN pgflurry.lock.expires_at IS
'From this instant on, by the server''s clock, it is free whoever took it.';


-- Which workers a role may lease: see pgflurry.grant_lease(). A role without a row may lease none, so a restore that
-- loses rows gives no role more than it had.
CREATE TABLE pgflurry.lease_range (
    role    regrole   NOT NULL
        CONSTRAINT lease_range_pkey PRIMARY KEY,
    workers int4range NOT NULL
        CONSTRAINT lease_range_has_workers CHECK (NOT isempty(workers))
);

COMMENT ON TABLE pgflurry.lease_range IS
'Which workers a role, and each member of it, may lease. Without a row: none. The owner of the schema may lease all. '
'Written by pgflurry.grant_lease().';
COMMENT ON COLUMN pgflurry.lease_range.role IS 'The role; a new name of it changes nothing.';
COMMENT ON COLUMN pgflurry.lease_range.workers IS 'The workers, such as [100,200): from 100 to 199; (,): all.';


-- Who may log in to the ID database, the sessions of "pgflurry serve --id-database" that need no PostgreSQL.
-- Both tables hold secrets: PUBLIC has no right on them, and pgflurry.grant_lease() gives a role the right to read.

CREATE TABLE pgflurry.client (
    name             text COLLATE "C" NOT NULL
        CONSTRAINT client_pkey PRIMARY KEY
        CONSTRAINT client_name_length CHECK (octet_length(name) BETWEEN 1 AND 63)
        -- it stands in logs and in messages
        CONSTRAINT client_name_has_no_control_characters CHECK (name !~ '[\u0001-\u001F\u007F]'),
    verifier         text COLLATE "C"
        CONSTRAINT client_verifier_length CHECK (octet_length(verifier) <= 512)
        -- as PostgreSQL writes it in pg_authid: neither an md5 hash nor a password in clear text
        -- \x3F is the question mark: tools that run this text would take one for a parameter
        CONSTRAINT client_verifier_is_scram_sha_256 CHECK (verifier ~ (E'^SCRAM-SHA-256\\$[1-9][0-9]{0,8}:(\x3F=[^$])'
            '([A-Za-z0-9+/]{4})*([A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)\x3F'
            '\\$[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=:[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$')),
    valid_until      timestamptz
        CONSTRAINT client_valid_until_is_finite CHECK (isfinite(valid_until)),
    connection_limit integer
        CONSTRAINT client_connection_limit_is_not_negative CHECK (connection_limit >= 0),
    created_at       timestamptz NOT NULL DEFAULT clock_timestamp(),
    changed_at       timestamptz NOT NULL DEFAULT clock_timestamp()
);

COMMENT ON TABLE pgflurry.client IS
'Who may log in to the ID database, one row a client; kept by "pgflurry clients". '
'Proxies read it every few seconds.';
COMMENT ON COLUMN pgflurry.client.name IS 'The user that the client names when it connects: 1 to 63 bytes.';
COMMENT ON COLUMN pgflurry.client.verifier IS
'What is kept of its password, SCRAM-SHA-256 in the form of pg_authid.rolpassword; '
'NULL: it logs in with a certificate alone.';
COMMENT ON COLUMN pgflurry.client.valid_until IS 'The last instant at which it may log in; NULL: for ever.';
COMMENT ON COLUMN pgflurry.client.connection_limit IS
'How many sessions it may have at once on each proxy; NULL: any number.';
COMMENT ON COLUMN pgflurry.client.created_at IS 'When the row was made.';
COMMENT ON COLUMN pgflurry.client.changed_at IS 'When the row was last changed, or made; kept by a trigger.';

CREATE FUNCTION pgflurry.note_client_change() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $fn$
BEGIN
    NEW.created_at := OLD.created_at;
    NEW.changed_at := clock_timestamp();
    RETURN NEW;
END $fn$;
COMMENT ON FUNCTION pgflurry.note_client_change() IS
'Notes when a row of pgflurry.client changes. What a subscription brings along stays as it is.';

CREATE TRIGGER note_client_change BEFORE UPDATE ON pgflurry.client
    FOR EACH ROW EXECUTE FUNCTION pgflurry.note_client_change();


-- A client without a row is asked for a proof, too, with a salt that this secret and its name determine. So nobody can
-- tell from outside which names there are, whichever proxy he asks. "migrate up" writes the row, also where a dump was
-- restored without its data.
CREATE TABLE pgflurry.client_secret (
    only_row boolean NOT NULL DEFAULT true
        CONSTRAINT client_secret_pkey PRIMARY KEY
        CONSTRAINT client_secret_has_one_row CHECK (only_row),
    secret   bytea   NOT NULL
        CONSTRAINT client_secret_has_32_bytes CHECK (octet_length(secret) = 32)
);

COMMENT ON TABLE pgflurry.client_secret IS
'One row: the secret behind the salts that clients without an account are shown.';
COMMENT ON COLUMN pgflurry.client_secret.only_row IS 'Always true: keeps the table at one row.';
COMMENT ON COLUMN pgflurry.client_secret.secret IS
'Random, 32 bytes. With another one the salts of unknown names change, which tells them from known ones.';


-- What the owner grants on all his later tables (ALTER DEFAULT PRIVILEGES) is for tables of applications.
DO $do$
DECLARE
    g record;
BEGIN
    FOR g IN
        SELECT DISTINCT c.relname,
               CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END AS grantee
        FROM pg_class AS c, aclexplode(c.relacl) AS a
        WHERE c.oid IN ('pgflurry.client'::regclass, 'pgflurry.client_secret'::regclass,
                        'pgflurry.lease_range'::regclass) AND a.grantee <> c.relowner
    LOOP
        EXECUTE format('REVOKE ALL ON pgflurry.%I FROM %s CASCADE', g.relname, g.grantee);
    END LOOP;
END $do$;


-- Down

-- Rows that somebody put here, and that are in use, keep everything in place. Nobody adds a client while it is decided.
LOCK TABLE pgflurry.client IN ACCESS EXCLUSIVE MODE;
DO $do$
DECLARE
    used text;
BEGIN
    SELECT string_agg(format('%s (%s)', name, rows), ', ') INTO used FROM (
        SELECT 'auto_increment' AS name, count(*) AS rows FROM pgflurry.auto_increment
        UNION ALL SELECT 'replace_sequence', count(*) FROM pgflurry.replace_sequence
        UNION ALL SELECT 'counter', count(*) FROM pgflurry.counter
        UNION ALL SELECT 'segment', count(*) FROM pgflurry.segment WHERE biz_tag <> 'leaf-segment-test'
        UNION ALL SELECT 'token', count(*) FROM pgflurry.token WHERE expires_at > clock_timestamp()
        UNION ALL SELECT 'lock', count(*) FROM pgflurry.lock
            WHERE owner IS NOT NULL AND expires_at > clock_timestamp()
        UNION ALL SELECT 'client', count(*) FROM pgflurry.client
            WHERE valid_until IS NULL OR valid_until > clock_timestamp()) AS t
    WHERE rows > 0;
    IF used IS NOT NULL THEN
        RAISE EXCEPTION 'tables of schema pgflurry hold rows that are in use: %', used
            USING ERRCODE = 'restrict_violation',
                  HINT = 'Removed, their numbers would begin anew, tokens and locks would be forgotten, '
                      'and nobody would know the passwords of clients any more. '
                      'Delete the rows first, when none is needed, and each client with "pgflurry clients remove".';
    END IF;
END $do$;

DROP VIEW pgflurry.function_lock, pgflurry.function_lock_stand_in;
DROP TABLE pgflurry.client_secret, pgflurry.client, pgflurry.lease_range, pgflurry.lock, pgflurry.token,
    pgflurry.counter, pgflurry.replace_sequence, pgflurry.auto_increment, pgflurry.segment, pgflurry.worker_history,
    pgflurry.worker, pgflurry.namespace;
DROP SEQUENCE pgflurry.closed, pgflurry.clock_refusals, pgflurry.clock_waits, pgflurry.function_timeline_stand_in,
    pgflurry.mark_stand_in, pgflurry.function_timeline, pgflurry.mark;
DROP FUNCTION pgflurry.note_client_change(), pgflurry.remember_holder();
-- The guards came with the functions, and stayed until their tables were gone.
DROP FUNCTION IF EXISTS pgflurry.guard_lease_range(), pgflurry.guard_closed(), pgflurry.guard_auto_increment(),
    pgflurry.guard_segment(), pgflurry.guard_worker(), pgflurry.guard_namespace();
