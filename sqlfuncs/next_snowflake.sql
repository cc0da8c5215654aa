-- next_snowflake(): IDs inside PostgreSQL, strictly unique and increasing, without an extension.
--
-- How it works. The unlogged sequence pgflurry.lane is clock and counter in one: its value is
--
--      tick << C | counter         C = 63 - timestamp_bits, so 20 to 35
--
-- A counter below 2^sequence_bits is an ID of that tick; the counters above are headroom and never become IDs.
-- The first 1/32 of the sequence is the stand-in's (see there): a tick of the lane begins behind it.
-- A draw (nextval) whose tick is at most lag behind the clock and whose counter is an ID is returned as it is.
-- Lag is 4 ms, or 0 where a unit is longer: it makes a tick serve several milliseconds, and starting one is what costs.
-- Any other draw is thrown away, and advance() starts a new tick: the clock's, or the next one if the lane is ahead.
-- What is rare, about once a second, it leaves to advance_slowly().
--
-- Why no ID comes twice.
--  1. Between two setval() draws increase, because nextval and setval of one sequence exclude each other.
--  2. Only the holder of the lock sets a tick. It draws first, sees tick m, and sets a tick above m. Nobody else
--     can set one in between, however long it is paused, so each tick is set at most once and counters of a tick
--     start once. Draws meanwhile only raise the counter within m.
--  3. The counter should not run over into m+1. Nobody but this function can draw (see Rights), and each call that may
--     go on, and whose first draw is at or above three quarters of the counter, sends the lane back to its START.
--     A run over needs 2^(C-2), at least 262,144, calls after that, each of which ends between its draw and the setval:
--     because it is refused (SNF03), its backend dies, or by an error that its caller brings about and catches,
--     at the end of the stack or of shared memory. Where somebody does that, m+1 is a tick that nobody has set and
--     nobody will, because the next one set is above it, and mark covers the next block, too.
--     From START it leads to tick 1: there mark is above the lane's block, which it never is above a tick that was set,
--     so advance_slowly() takes the lane to be at START.
--  4. START is tick 0 with a counter that is no ID (2^(C-1): sequence_bits is below C because an ID has at least one
--     worker bit). It is also where an unlogged sequence stands after a crash, a promotion, a restore. From START
--     advance() continues at pgflurry.mark or later, and mark is above every tick ever set: it is raised before the
--     tick is set. While the server runs it is therefore safe to go back to START at any moment, also late, also
--     without the lock. Point 5 is about a crash, which can lose the last values of mark.
--  5. mark is logged, but the log is flushed later: by a commit that waits for it, or by the server within about a
--     second. IDs above the mark that survives a crash may have reached a client. So no tick but that of a start is set
--     more than ahead = 1 s (at least one tick) beyond the clock; whoever needs one waits. A start sets exactly the
--     clock + ahead + 1 tick, after it has slept for more than one tick, and waits as long as mark is above that.
--     All ticks before a crash were at most (clock then + ahead + 1 tick); the clock after the sleep is at least one
--     tick further, so the start after it is above them, even if every mark since the last one was lost.
--  6. A transaction that stores an ID commits after the mark that covers it was logged. An ID that survives in the
--     database is covered by a mark that survives, whatever synchronous_commit says and whatever the clock does.
--  7. advance() is the short way for one case: the stand-in has not been at work, the lane is not at START,
--     its tick is not fenced (point 9), and the tick to start is in the same block of ticks as the lane's.
--     The mark of point 4 was raised when the lane entered the block, to the end of the block behind it,
--     so it need not move; the end of the layout is the end of a block, so it is not passed.
--     All else holds as in advance_slowly(): the same lock, a draw under it, a tick above that
--     draw's and not too far ahead of the clock (point 5).
--     What is not this case goes to advance_slowly() with nothing but the first draw,
--     and is looked at anew under the lock. Both take and give back draws of the lane,
--     so either may be of an older version while an installation replaces them.
--  8. Where an ID has all 63 bits, next_snowflake() flips the bits of its worker in what it draws (XOR).
--     Between sequence and tick that leaves the worker if they were all 0, and something else otherwise:
--     a counter that is no ID cannot be taken for one.
--  9. Synchronous replication (synchronous_standby_names). An old primary may not know of its successor.
--     So an ID that is shown and not stored needs a mark that the standby has.
--     A commit waits for the standby only if its transaction wrote, and most callers write nothing.
--     So ticks are started for everybody only below pgflurry.confirmed.
--     pgflurry.raiser is the transaction that raised mark last. PostgreSQL shows it as committed only after its wait:
--     then the mark is confirmed. Mark covers the next block, too,
--     so nobody notices where the raiser commits within a second.
--     At or after confirmed a tick is fenced: its IDs are for callers that have written mark in their own transaction.
--     Their own commit comes after the mark of the tick, and waits.
--     (What was shown before its commit counts as little as with nextval().)
--     The counters of a fenced tick begin at 2^(C-1), which keeps everybody else out.
--     A tick that was started for everybody stays below confirmed, so if its counter goes so far that is no ID.
--     The raiser itself needs no lock for its draws: it has written, and a draw is nobody else's.
--     raiser is 0 while mark moves, so a call that is broken off leaves no witness for a mark that it did not write.
--     Both sequences are unlogged: after a crash or a promotion nothing is confirmed.
--     A start is always fenced, whatever they say.
--
-- What this asks of the clock. Only IDs that no surviving transaction stored depend on it: if a crash loses marks, the
-- clock at the next start must not be behind what it was when the last tick was set. (If that tick was not ahead of
-- the clock, a second behind does no harm.) Without a lost mark a clock set back makes callers wait or fail, no more.
--
-- What a crash costs. IDs begin ahead + 1 tick, about 1 s, beyond the clock:
-- after a crash, and for a new function, which cannot be told from one that lost its first mark.
-- If mark survived and is above that, by two blocks at most (about 2 s), the first draw waits for the difference.
-- The carry guard of point 3 costs the same. Starts cannot run away: each is at a fixed distance from the clock.
--
-- What a failover costs. A standby promoted without the last WAL, asynchronous or not,
-- is like a crash with another clock. Lane is at START, and the WAL timeline is not the one in
-- pgflurry.function_timeline: that start is skew further beyond the clock.
-- For a repetition a mark must be lost AND the clock of the new server be behind that of the
-- old one by more than skew: two faults. With a synchronous standby no mark is lost that an ID needs (point 9).
-- After the first tick the next one waits until the clock is within ahead of it, about skew.
-- A second failover in that time that loses the first one's mark has no skew left:
-- there the new clock must not be behind. The timeline is noted after mark and lane were set:
-- who dies in between starts with the skew again, and a timeline that survives says that the mark before it does.
-- Where the server does not tell its timeline every start keeps the skew.
--
-- What the fence leaves open. A wait for the standby that is cancelled or terminated looks like one that has ended:
-- a cancel request, pg_cancel_backend(), pg_terminate_backend(), a fast shutdown.
-- Where no standby is connected any more such a commit counts for nothing.
-- A standby that is out of reach may still look connected (wal_sender_timeout, 60 s):
-- then such a commit opens the ticks below mark to everybody, 2 s at most.
-- synchronous_commit = off or local is raised to on in a transaction that comes to advance_slowly().
-- Who lowers it again before its commit, also by a rollback to a savepoint, does not wait.
-- A statement that began before synchronous replication was switched on does not know of it.
-- What the fence costs. Where the raiser stays open, others write and wait until one of them has committed.
-- A long transaction that is alone pays about 2 us more for each draw, from the second second on.
--
-- Copies. A copy of the database that draws on would give the IDs of its original, so each session asks once,
-- before its first ID, whether this is the original and the function its own: pgflurry.may_draw(), in identity.sql.
-- The answer is a constant in the plans of the session; a draw costs no more for it.
--
-- Foreign hands. A dump of data that is restored into the same database sets lane and mark back
-- (pg_restore --data-only). It does so by setval(), and setval() leaves log_cnt at 0.
-- The function moves mark by setval() and one nextval(), which leaves it above 0.
-- So advance_slowly() sees that somebody else moved mark, and starts as after a crash,
-- beyond every tick that can have been set (point 5). A restore within about three seconds of its dump is not seen in
-- time: the lane may be ahead of the clock for so long.
--
-- The stand-in. Who holds the lock may not go on: its process was stopped, or a machine is overloaded.
-- Nobody may take the lock away, because it would set its tick late, and send the lane back.
-- So there is a second lane, with a lock, a mark and a share of the sequence of its own.
-- Who has waited 200 ms for the lock draws from it (stand_in()).
-- All that is said above holds for each of the two lanes by itself, and no ID is in both shares,
-- so nothing comes twice, whenever the holder goes on. While the lane's tick is older than the stand-in's,
-- its holder is still the one that does not go on, and others need not wait.
-- Who gets the lock then starts a tick beyond the stand-in's, and everybody is back on the lane.
-- The stand-in starts no tick while the lane's is fresh, and then at least two ticks beyond it,
-- so that a lane whose counter ran over by one tick (point 3) does not meet it.
-- So IDs increase from one lane to the other. One case is left: a holder that is stopped again between reading the
-- clock and setting its tick sets one that is behind the stand-in's.
-- It sees that, and makes it unusable; who draws in the microseconds between may get an ID that
-- is less than one of the stand-in's. The same may be where the clock is stepped while a holder does not go on.
-- What the stand-in is not for. It gives 128 IDs a millisecond in the default layout, so a bulk statement is slower.
-- Where the lane was ahead of the clock, as much as a second, a call waits for that as well:
-- 1.4 s is the longest that was measured. Where a unit is a second it waits up to three.
-- Who is stopped inside PostgreSQL's own short locks stops everybody, as with nextval().
-- And a role may stop any table or sequence of any database with a statement that locks first and asks for rights
-- later, as CREATE RULE does in PostgreSQL 15.
--
-- Waiting for a client. What holds a lock here must not: a client that does not read would stop everybody.
-- Messages below ERROR are what a backend sends in between, whatever the caller has set (client_min_messages,
-- debug_print_plan, ...). So the functions that take a lock set client_min_messages to error,
-- and an ERROR is sent when the subtransaction with the lock has ended.
--
-- Rights. next_snowflake() is SECURITY DEFINER: its owner draws, callers need EXECUTE on it and nothing else.
-- With SECURITY INVOKER each caller would need USAGE on lane, and could then run nextval(lane) in a loop:
-- by 2^C draws he pushes the counter into ticks that nobody set and no mark covers (point 3 would fall).
-- Nobody but the owner can call advance() either, so its argument is always a fresh draw.
-- For the same reason every operator is written with its schema, in advance() too:
-- the search_path belongs to the caller, the rights to the owner.
-- A fixed search_path would do it too, at twice the price of the whole call; advance_slowly() has one.
--
-- Speed. In a statement of its own each expression is prepared anew, so there are few,
-- and constants stand in them as numbers. The lock is of the weakest mode that excludes itself:
-- a stronger one looks through the locks of every backend.
--
-- Errors: SNF01 the clock is too far behind the last ID; SNF02 the clock is outside the years of the layout;
-- SNF03 this database is a copy, or the function another database's; 25006 in a read-only transaction or on a standby.

CREATE OR REPLACE PROCEDURE pgflurry.install_next_snowflake()
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp SET datestyle = ISO, YMD SET timezone = UTC SET extra_float_digits = 1
SET client_min_messages = warning  -- sequences that are there stay as they are
AS $install$
DECLARE
    n               pgflurry.namespace;
    lane_bits       integer;  -- C: what lies below the tick in the lane
    id_bits         integer;  -- what lies below the tick in an ID
    unit_ms         integer;
    block_bits      integer;  -- mark moves in blocks of 2^block_bits ticks, about a second each
    ahead           bigint;   -- ticks that full ticks may drive the lane ahead of the clock
    start_value     bigint;
    no_id           bigint;   -- bits of a counter that is no ID
    quiet_start     bigint;   -- lower quarter of the sequence
    share           bigint;   -- of the sequence, from 0 on: the stand-in's
    lag             bigint;   -- ticks that a draw may be behind the clock
    patience        constant text := '200ms';  -- for a lock whose holder does not go on
    stand_in        boolean;
    own             text;     -- the ID space and the worker that the function is written for
    worker          bigint;   -- the worker at its place in an ID
    flipped         bigint := 0;        -- bits that next_snowflake() has flipped in what it draws
    flip            text := '';         -- how
    result          text := 'drawn';    -- from that to its ID
BEGIN
    SELECT * INTO STRICT n FROM pgflurry.namespace;
    lane_bits := 63 - n.timestamp_bits;
    id_bits := n.datacenter_bits + n.worker_bits + n.sequence_bits;
    unit_ms := (extract(epoch FROM n.unit) * 1000)::integer;
    block_bits := greatest(0, floor(log(2, 1024 / unit_ms::numeric)))::integer;
    ahead := ceil(1000 / unit_ms::numeric)::bigint;  -- at least 1
    start_value := 1::bigint << (lane_bits - 1);
    no_id := (start_value * 2 - 1) - ((1::bigint << n.sequence_bits) - 1);
    quiet_start := greatest((1::bigint << n.sequence_bits) / 4, 1) - 1;
    share := greatest((1::bigint << n.sequence_bits) / 32, 1);
    lag := 4 / unit_ms;
    own := format('%L::pg_catalog.uuid, %s', n.id, n.function_worker);
    worker := n.function_worker::bigint << n.sequence_bits;
    -- Where an ID has all 63 bits its tick is where the lane's is, and the worker's bits are 0 in a draw that is an ID:
    -- flipping those that are 1 in the worker makes it the ID, and no other draw can look like one.
    IF id_bits = lane_bits THEN
        flipped := worker;
        IF worker <> 0 THEN
            flip := format(' OPERATOR(pg_catalog.#) %s::bigint', worker);
        END IF;
    ELSE
        result := format('(((drawn OPERATOR(pg_catalog.>>) %s) OPERATOR(pg_catalog.<<) %s)'
            ' OPERATOR(pg_catalog.|) (drawn OPERATOR(pg_catalog.&) %s::bigint)) OPERATOR(pg_catalog.|) %s::bigint',
            lane_bits, id_bits, (1::bigint << n.sequence_bits) - 1, worker);
    END IF;

    FOREACH stand_in IN ARRAY ARRAY[false, true] LOOP
        EXECUTE format('CREATE UNLOGGED SEQUENCE IF NOT EXISTS pgflurry.lane%s AS bigint '
            'MINVALUE 0 START %s CACHE 1 NO CYCLE', CASE WHEN stand_in THEN '_stand_in' END, start_value);
        EXECUTE format('COMMENT ON SEQUENCE pgflurry.lane%s IS %L', CASE WHEN stand_in THEN '_stand_in' END, format(
            'Clock and counter of %s: tick << %s | counter; a counter from %s to %s is an ID. Never set it by hand,'
            ' except to %s, from where the function continues at its mark.',
            CASE WHEN stand_in THEN 'the stand-in of next_snowflake()' ELSE 'next_snowflake()' END, lane_bits,
            CASE WHEN stand_in THEN 0 ELSE share END,
            CASE WHEN stand_in THEN share ELSE 1::bigint << n.sequence_bits END - 1, start_value));
        EXECUTE format('CREATE UNLOGGED SEQUENCE IF NOT EXISTS pgflurry.raiser%s AS bigint '
            'MINVALUE 0 START 0 CACHE 1 NO CYCLE', CASE WHEN stand_in THEN '_stand_in' END);
        EXECUTE format('COMMENT ON SEQUENCE pgflurry.raiser%1$s IS %2$L', CASE WHEN stand_in THEN '_stand_in' END,
            'Transaction whose commit tells that a synchronous standby has the mark; 0: none.');
        EXECUTE format('CREATE UNLOGGED SEQUENCE IF NOT EXISTS pgflurry.confirmed%s AS bigint '
            'MINVALUE 0 START 0 CACHE 1 NO CYCLE', CASE WHEN stand_in THEN '_stand_in' END);
        EXECUTE format('COMMENT ON SEQUENCE pgflurry.confirmed%1$s IS %2$L', CASE WHEN stand_in THEN '_stand_in' END,
            'Tick, exclusive: below it a tick is started for everybody. '
            'At or after it each caller waits for the standby at its own commit.');

    EXECUTE format($create$
CREATE OR REPLACE FUNCTION pgflurry.advance_slowly%12$s(drawn bigint) RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp SET client_min_messages = error SET lock_timeout = '%13$s' AS $advance$
DECLARE
    -- the layout, and times in ticks
    lane_bits      constant integer := %1$s;
    counter_bits   constant bigint := %2$s;
    first          constant bigint := %14$s;             -- counter that is an ID
    beyond         constant bigint := %15$s;             -- counter that is none any more
    fence          constant bigint := %23$s;             -- added to the counters of a fenced tick
    fence_end      constant bigint := %24$s;             -- counter that is none any more in a fenced tick
    quiet_start    constant bigint := %3$s;              -- lower quarter of the sequence
    last_tick      constant bigint := %4$s;
    epoch          constant double precision := %5$s;    -- seconds since 1970
    unit           constant double precision := %6$s;    -- seconds
    block_bits     constant integer := %7$s;
    raiser_bits    constant integer := %25$s;            -- a raiser that is open is waited for so many ticks, log 2
    lag_limit      constant bigint := %8$s;
    ahead_limit    constant bigint := %9$s;
    worth_a_wait   constant bigint := %10$s;
    skew           constant bigint := %11$s;
    lag            constant bigint := %17$s;
    apart          constant bigint := %18$s;             -- ticks to keep from the other lane's
    seconds  double precision;  -- since the epoch
    clock    bigint := 0;       -- the tick of the clock
    tick     bigint;            -- the lane's tick; 0: unknown (crash, promotion, carry guard)
    other    bigint;            -- the other lane's
    marked   bigint;            -- mark
    ours     boolean;           -- the last who moved mark was this function
    target   bigint;            -- the tick to start
    reach    bigint;            -- how far beyond the clock it may be
    v        bigint;            -- the draw to return; NULL: none
    drew     bigint;            -- the draw under the lock
    here     bigint;            -- the server's WAL timeline; NULL: it does not tell
    known    bigint;            -- the timeline of the last start
    waiting  boolean := false;  -- for the lock; drawn is too old to be used
    stuck    boolean := false;  -- who holds the lock does not go on
    counted  boolean := false;  -- that this call waits for the clock
    used_up  boolean;           -- the lane's tick is used up, or the lane is at START
    entered  boolean;           -- the tick to start is in a block that mark does not cover with the next one
    waits    constant boolean := current_setting('synchronous_standby_names') <> '';  -- a commit, for a standby
    raiser   bigint;            -- transaction that raised mark
    became   text;              -- what has become of it
    bound    bigint;            -- confirmed
    fenced   boolean := false;  -- the tick is for those whose own commit waits
    bar      bigint := 0;       -- fence, if it is
    again    boolean := false;  -- and the lane's is one, so that no other need be started
BEGIN
    -- A commit that does not wait must not look like one that has. Before the subtransaction, whose end would undo it.
    IF waits AND current_setting('synchronous_commit') IN ('off', 'local') THEN
        PERFORM set_config('synchronous_commit', 'on', true);
    END IF;
    LOOP
        v := NULL;
        BEGIN
            -- This subtransaction always ends in a rollback, which is what releases the lock. Sequences are not
            -- transactional, so nothing is lost, and no cancel, error or end of the session can leave the lock behind.
            IF waiting THEN
                LOCK TABLE pgflurry.function_lock%12$s IN SHARE UPDATE EXCLUSIVE MODE;
            ELSE
                LOCK TABLE pgflurry.function_lock%12$s IN SHARE UPDATE EXCLUSIVE MODE NOWAIT;
            END IF;
            v := nextval('pgflurry.lane%12$s'::regclass);
            drew := v;
            tick := v >> lane_bits;
            SELECT last_value >> lane_bits INTO STRICT other FROM pgflurry.lane%16$s;
            SELECT last_value, log_cnt > 0 INTO STRICT marked, ours FROM pgflurry.mark%12$s;
            IF NOT ours OR (((tick >> block_bits) + 2) << block_bits) + 1 < marked THEN
                tick := 0;  -- nobody set it (point 3), or not the last (Foreign hands)
            END IF;
            IF tick = 0 THEN  -- the start before a crash may have been in this very tick of the clock (point 5)
                PERFORM pg_sleep(unit + 0.001);
            END IF;
            seconds := date_part('epoch', clock_timestamp()) - epoch;
            clock := floor(seconds / unit)::bigint;
            used_up := (v & counter_bits) >= beyond;
            IF %21$s THEN
                v := NULL;
                stuck := true;  -- not this one, but the other lane goes on
            ELSIF tick < clock - lag OR used_up OR other > tick THEN  -- else somebody has just advanced, and v is an ID
                v := NULL;
                IF tick = 0 THEN
                    SELECT last_value INTO STRICT known FROM pgflurry.function_timeline%12$s;
                    here := ('x' || pgflurry.wal_timeline())::bit(32)::bigint;
                    reach := ahead_limit + 1 + CASE WHEN here = known THEN 0 ELSE skew END;
                    target := greatest(marked, clock + reach);
                ELSE
                    reach := ahead_limit;
                    target := greatest(clock, tick + 1);
                END IF;
                IF other > tick THEN
                    target := greatest(target, other + apart);
                END IF;
                SELECT r.last_value, c.last_value INTO STRICT raiser, bound
                    FROM pgflurry.raiser%12$s AS r, pgflurry.confirmed%12$s AS c;
                IF waits THEN
                    fenced := tick = 0 OR target >= bound;
                    IF fenced AND tick <> 0 THEN
                        BEGIN
                            became := txid_status(raiser);
                        EXCEPTION WHEN invalid_parameter_value THEN
                            became := NULL;  -- a number from elsewhere, which is none here yet
                        END;
                        -- Where no standby is connected, somebody cancelled the wait.
                        IF became = 'committed' AND target - clock <= reach
                           AND EXISTS (SELECT FROM pg_stat_get_wal_senders() AS w
                                       WHERE coalesce(w.sync_state, 'hidden') NOT IN ('async', 'potential')) THEN
                            bound := marked - 1;
                            PERFORM setval('pgflurry.confirmed%12$s'::regclass, bound);
                            fenced := target >= bound;
                        END IF;
                    END IF;
                    again := fenced AND tick > 0 AND tick >= greatest(bound, other, clock - lag)
                        AND (drew & counter_bits) >= fence AND (drew & counter_bits) < fence_end;
                    IF again THEN
                        target := tick;
                    END IF;
                    bar := CASE WHEN fenced THEN fence ELSE 0 END;
                END IF;
                IF again OR clock > 0 AND target <= last_tick AND target - clock <= reach THEN
                    entered := tick = 0 OR (target >> block_bits) <> (tick >> block_bits);
                    IF entered OR fenced AND raiser <> txid_current() THEN
                        -- A raiser that is open may commit yet. Who follows on it too soon never sees one commit.
                        IF entered OR became IS DISTINCT FROM 'in progress'
                           OR (target >> raiser_bits) <> (tick >> raiser_bits) THEN
                            PERFORM setval('pgflurry.raiser%12$s'::regclass, 0);
                            raiser := CASE WHEN waits THEN txid_current() ELSE 0 END;
                        END IF;
                        PERFORM setval('pgflurry.mark%12$s'::regclass, ((target >> block_bits) + 2) << block_bits);
                        PERFORM nextval('pgflurry.mark%12$s'::regclass);
                        PERFORM setval('pgflurry.raiser%12$s'::regclass, raiser);
                    END IF;
                    IF tick = 0 OR NOT waits AND target >= bound THEN
                        PERFORM setval('pgflurry.confirmed%12$s'::regclass,
                            CASE WHEN waits THEN target ELSE ((target >> block_bits) + 2) << block_bits END);
                    END IF;
                    v := target << lane_bits | first;
                    -- A tick entered by the clock begins at random, so that a quiet database does
                    -- not give only even IDs. A hash, because callers that wake with the millisecond see few different
                    -- microseconds; and not random(), whose sequence is the session's own.
                    IF NOT used_up OR target <> tick + 1 THEN
                        v := v + (hashint8extended((seconds * 1000000)::bigint, 0) & quiet_start);
                    END IF;
                    IF again THEN
                        v := drew - fence;
                    ELSE
                        PERFORM setval('pgflurry.lane%12$s'::regclass, v + bar);  -- v is ours; the next draw is v + 1
                    END IF;
                    %22$s
                    IF here <> known THEN
                        PERFORM setval('pgflurry.function_timeline%12$s'::regclass, here);
                    END IF;
                END IF;
            END IF;
            RAISE EXCEPTION USING ERRCODE = 'SNF00';
        EXCEPTION
            WHEN SQLSTATE 'SNF00' THEN
                NULL;
            WHEN lock_not_available THEN
                stuck := waiting;
                IF NOT waiting THEN
                    -- Somebody else is advancing. The draw is unique whatever the time is; use it unless it is too old.
                    clock := floor((date_part('epoch', clock_timestamp()) - epoch) / unit)::bigint;
                    IF (drawn & counter_bits) < beyond AND (drawn >> lane_bits) >= clock - lag_limit THEN
                        RETURN drawn;
                    END IF;
                    waiting := true;
                    %19$s
                END IF;
                IF NOT stuck THEN
                    CONTINUE;
                END IF;
        END;
        IF stuck THEN
            %20$s
        END IF;
        IF v IS NOT NULL THEN
            RETURN v;
        END IF;
        IF clock <= 0 OR target > last_tick THEN
            RAISE EXCEPTION 'next_snowflake: the clock of the database server, %%, '
                'is outside the years of the layout, %% to %%',
                clock_timestamp(), to_timestamp(epoch), to_timestamp(epoch + (last_tick + 1) * unit)
                USING ERRCODE = 'SNF02',
                      HINT = 'Correct the clock of the server. '
                          'If it is right, the layout has come to its end: a new namespace is needed.';
        END IF;
        IF target - clock > worth_a_wait THEN
            PERFORM nextval('pgflurry.clock_refusals'::regclass);
            RAISE EXCEPTION 'next_snowflake: the clock of the database server is %% ms behind the last ID, '
                'more than %% ms',
                round((target - clock) * unit * 1000), round(worth_a_wait * unit * 1000)
                USING ERRCODE = 'SNF01',
                      HINT = 'The clock was set back, or once stood ahead. Correct it, or retry when it has caught up. '
                          'If it is right now and that takes too long, run "pgflurry migrate up --database URL '
                          '--fresh-worker", which gives the function another worker.';
        END IF;
        IF NOT counted THEN
            PERFORM nextval('pgflurry.clock_waits'::regclass);
            counted := true;
        END IF;
        PERFORM pg_sleep(0.01);  -- without the lock; all who wait let the clock catch up
        waiting := true;
    END LOOP;
END $advance$
$create$,
            lane_bits, start_value * 2 - 1, CASE WHEN stand_in THEN 0 ELSE quiet_start END,
            (1::bigint << n.timestamp_bits) - 1,
            extract(epoch FROM n.epoch), unit_ms / 1000::numeric, block_bits, 20 / unit_ms, ahead,
            -- as far as mark may be beyond the clock after a start, and 2 s for a clock that was set back
            ahead + (2 << block_bits) + 2000 / unit_ms + pgflurry.ticks_of(n.skew),
            pgflurry.ticks_of(n.skew),
            CASE WHEN stand_in THEN '_stand_in' END, patience,
            CASE WHEN stand_in THEN 0 ELSE share END,
            CASE WHEN stand_in THEN share ELSE 1::bigint << n.sequence_bits END,
            CASE WHEN stand_in THEN '' ELSE '_stand_in' END, lag,
            CASE WHEN stand_in THEN 2 ELSE greatest(20 / unit_ms, 1) END,
            CASE WHEN NOT stand_in THEN '-- No tick of this lane was started since the stand-in began:
                    -- its holder is still the one that does not go on.
                    SELECT last_value > drawn INTO STRICT stuck FROM pgflurry.lane_stand_in;' END,
            CASE WHEN stand_in THEN 'RETURN NULL;'
                 ELSE 'stuck := false;
            v := pgflurry.stand_in();
            IF v IS NULL THEN
                CONTINUE;
            END IF;' END,
            CASE WHEN stand_in THEN 'other > tick AND other >= clock - lag_limit' ELSE 'false' END,
            CASE WHEN NOT stand_in THEN '-- Who was stopped between reading the clock and here may be behind the
                    -- stand-in again: then no draw of this tick is an ID.
                    IF other > tick AND (SELECT last_value FROM pgflurry.lane_stand_in) > v THEN
                        PERFORM setval(''pgflurry.lane''::regclass,
                            target << lane_bits | CASE WHEN bar > 0 THEN fence_end ELSE beyond END);
                        v := NULL;
                    END IF;'
                 ELSE '-- Who was stopped between reading the lane and here may have met it:
                    -- then no draw of this tick is an ID.
                    IF (SELECT last_value >> lane_bits FROM pgflurry.lane) >= target - 1 THEN
                        PERFORM setval(''pgflurry.lane_stand_in''::regclass,
                            target << lane_bits | CASE WHEN bar > 0 THEN fence_end ELSE beyond END);
                        v := NULL;
                    END IF;' END,
            start_value,
            start_value + least(CASE WHEN stand_in THEN share ELSE 1::bigint << n.sequence_bits END, start_value / 2),
            greatest(block_bits - 2, 0));
    END LOOP;
    COMMENT ON FUNCTION pgflurry.advance_slowly(bigint) IS
        'All that advance() may meet, about once a second: after a crash, where the mark moves, '
        'where the clock is behind. Takes a fresh draw of the lane, returns the one to use.';
    COMMENT ON FUNCTION pgflurry.advance_slowly_stand_in(bigint) IS
        'The same for the lane of the stand-in. NULL if its lock is not to be had either.';
    REVOKE ALL ON FUNCTION pgflurry.advance_slowly(bigint), pgflurry.advance_slowly_stand_in(bigint) FROM PUBLIC;

    EXECUTE format($create$
CREATE OR REPLACE FUNCTION pgflurry.stand_in() RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp SET client_min_messages = error AS $stand$
DECLARE
    drawn bigint := nextval('pgflurry.lane_stand_in'::regclass);
BEGIN
    IF (drawn & %2$s) >= %3$s THEN
        PERFORM setval('pgflurry.lane_stand_in'::regclass, %4$s);
    END IF;
    IF (drawn & %2$s) < %5$s
       AND (drawn >> %1$s) >= floor((date_part('epoch', clock_timestamp()) - %6$s) / %7$s)::bigint - %8$s
       AND drawn > (SELECT last_value FROM pgflurry.lane) THEN
        RETURN drawn;
    END IF;
    RETURN pgflurry.advance_slowly_stand_in(drawn);
END $stand$
$create$,
        lane_bits, start_value * 2 - 1, start_value + start_value / 2, start_value, share,
        extract(epoch FROM n.epoch), unit_ms / 1000::numeric, 20 / unit_ms);
    COMMENT ON FUNCTION pgflurry.stand_in() IS
        'A draw from the share of the sequence that is kept for when a session holds the lock of the lane and does '
        'not go on. NULL if another one holds that of this lane.';
    REVOKE ALL ON FUNCTION pgflurry.stand_in() FROM PUBLIC;

    EXECUTE format($create$
CREATE OR REPLACE FUNCTION pgflurry.advance(drawn bigint) RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET client_min_messages = error AS $advance$
DECLARE
    v       bigint;  -- the draw under the lock, then the one to return; NULL: none
    us      bigint;  -- microseconds of the clock since the epoch
    target  bigint;  -- the tick to start
BEGIN
    IF (drawn OPERATOR(pg_catalog.&) %5$s::bigint) OPERATOR(pg_catalog.>=) %12$s::bigint THEN
        -- Without the lock, because its holder may be stopped while others draw on. Safe at any moment (point 4).
        IF (drawn OPERATOR(pg_catalog.&) %5$s::bigint) OPERATOR(pg_catalog.>=) %6$s::bigint THEN
            PERFORM pg_catalog.setval('pgflurry.lane'::pg_catalog.regclass, %12$s::bigint);
        -- The draw is one of a fenced tick, and this transaction the raiser.
        ELSIF (drawn OPERATOR(pg_catalog.&) %5$s::bigint) OPERATOR(pg_catalog.<) %15$s::bigint
              AND pg_catalog.pg_sequence_last_value('pgflurry.raiser'::pg_catalog.regclass)
                  OPERATOR(pg_catalog.=) pg_catalog.txid_current_if_assigned()
              AND pg_catalog.pg_sequence_last_value('pgflurry.confirmed'::pg_catalog.regclass)
                  OPERATOR(pg_catalog.<=) (drawn OPERATOR(pg_catalog.>>) %1$s)
              AND (drawn OPERATOR(pg_catalog.>>) %1$s) OPERATOR(pg_catalog.>=)
                  ((((pg_catalog.date_part('epoch'::pg_catalog.text, pg_catalog.clock_timestamp())
                      OPERATOR(pg_catalog.-) %3$s::double precision)
                      OPERATOR(pg_catalog.*) 1000000::double precision)::bigint
                    OPERATOR(pg_catalog./) %4$s::bigint) OPERATOR(pg_catalog.-) %13$s::bigint) THEN
            RETURN drawn OPERATOR(pg_catalog.-) %12$s::bigint;
        END IF;
        RETURN pgflurry.advance_slowly(drawn);
    END IF;
    BEGIN
        LOCK TABLE pgflurry.function_lock IN SHARE UPDATE EXCLUSIVE MODE NOWAIT;
        v := pg_catalog.nextval('pgflurry.lane'::pg_catalog.regclass);
        us := ((pg_catalog.date_part('epoch'::pg_catalog.text, pg_catalog.clock_timestamp())
            OPERATOR(pg_catalog.-) %3$s::double precision) OPERATOR(pg_catalog.*) 1000000::double precision)::bigint;
        IF pg_catalog.pg_sequence_last_value('pgflurry.lane_stand_in'::pg_catalog.regclass)
           OPERATOR(pg_catalog.>) v THEN
            v := NULL;  -- the stand-in was at work
        ELSIF (v OPERATOR(pg_catalog.>>) %1$s)
              OPERATOR(pg_catalog.<) ((us OPERATOR(pg_catalog./) %4$s::bigint) OPERATOR(pg_catalog.-) %13$s::bigint)
           OR (v OPERATOR(pg_catalog.&) %2$s::bigint) OPERATOR(pg_catalog.<>) 0::bigint THEN
            -- else somebody has just advanced, and v is an ID
            target := GREATEST(us OPERATOR(pg_catalog./) %4$s::bigint,
                (v OPERATOR(pg_catalog.>>) %1$s) OPERATOR(pg_catalog.+) 1::bigint);
            -- where the lane is not at START nor its tick fenced, the mark stays, and the tick is not too far ahead
            IF (v OPERATOR(pg_catalog.&) %12$s::bigint) OPERATOR(pg_catalog.=) 0::bigint
               AND (target OPERATOR(pg_catalog.>>) %8$s) OPERATOR(pg_catalog.=) (v OPERATOR(pg_catalog.>>) %9$s)
               AND ((target OPERATOR(pg_catalog.-) %10$s::bigint) OPERATOR(pg_catalog.*) %4$s::bigint)
                   OPERATOR(pg_catalog.<=) us THEN
                v := pg_catalog.setval('pgflurry.lane'::pg_catalog.regclass,
                    (target OPERATOR(pg_catalog.<<) %1$s) OPERATOR(pg_catalog.|)
                    CASE WHEN (v OPERATOR(pg_catalog.&) %2$s::bigint) OPERATOR(pg_catalog.<>) 0::bigint
                              AND target OPERATOR(pg_catalog.=)
                                  ((v OPERATOR(pg_catalog.>>) %1$s) OPERATOR(pg_catalog.+) 1::bigint)
                         THEN %14$s::bigint
                         ELSE %14$s::bigint OPERATOR(pg_catalog.+)
                              (pg_catalog.hashint8extended(us, 0::bigint) OPERATOR(pg_catalog.&) %7$s::bigint) END);
            ELSE
                v := NULL;
            END IF;
        END IF;
        RAISE SQLSTATE 'SNF00';  -- releases the lock
    EXCEPTION
        WHEN SQLSTATE 'SNF00' THEN
            NULL;
        WHEN lock_not_available THEN
            v := NULL;
            -- Somebody else is advancing. The draw is unique whatever the time is; use it unless it is too old.
            us := ((pg_catalog.date_part('epoch'::pg_catalog.text, pg_catalog.clock_timestamp())
                OPERATOR(pg_catalog.-) %3$s::double precision)
                OPERATOR(pg_catalog.*) 1000000::double precision)::bigint;
            IF (drawn OPERATOR(pg_catalog.&) %2$s::bigint) OPERATOR(pg_catalog.=) 0::bigint
               AND (drawn OPERATOR(pg_catalog.>>) %1$s) OPERATOR(pg_catalog.>=)
                   ((us OPERATOR(pg_catalog./) %4$s::bigint) OPERATOR(pg_catalog.-) %11$s::bigint) THEN
                RETURN drawn;
            END IF;
    END;
    IF v IS NULL THEN
        RETURN pgflurry.advance_slowly(drawn);
    END IF;
    RETURN v;
END $advance$
$create$,
        lane_bits, no_id, extract(epoch FROM n.epoch), unit_ms::bigint * 1000,
        start_value * 2 - 1, start_value + start_value / 2, quiet_start,
        block_bits, lane_bits + block_bits, ahead, 20 / unit_ms, start_value, lag, share,
        start_value + least(1::bigint << n.sequence_bits, start_value / 2));
    COMMENT ON FUNCTION pgflurry.advance(bigint) IS
        'Starts a tick that was never used, or leaves it to advance_slowly(). '
        'Takes a fresh draw of the lane, returns the one to use.';
    REVOKE ALL ON FUNCTION pgflurry.advance(bigint) FROM PUBLIC;

    EXECUTE format($create$
CREATE OR REPLACE FUNCTION public.next_snowflake() RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER AS $next$
DECLARE
    drawn bigint := pg_catalog.nextval('pgflurry.lane'::pg_catalog.regclass)%5$s;
BEGIN
    -- an ID of a tick that is hardly behind the clock, or ahead of it; else start a new tick
    IF NOT pgflurry.may_draw(%7$s)
       OR pg_catalog.to_timestamp((drawn::double precision OPERATOR(pg_catalog.*) %1$s::double precision)
              OPERATOR(pg_catalog.+) %2$s::double precision) OPERATOR(pg_catalog.<=) pg_catalog.clock_timestamp()
       OR (drawn OPERATOR(pg_catalog.&) %3$s::bigint) OPERATOR(pg_catalog.<>) %6$s::bigint THEN
        IF NOT pgflurry.may_draw(%7$s) THEN
            PERFORM pgflurry.refuse_draw(%7$s);
        END IF;
        drawn := pgflurry.advance(drawn%5$s)%5$s;
    END IF;
    RETURN %4$s;
END $next$
$create$,
        unit_ms / 1000::double precision / (1::bigint << lane_bits),
        -- flipped bits are no time
        extract(epoch FROM n.epoch + n.unit * (1 + lag))
            - round(flipped * unit_ms / 1000::numeric / (1::bigint << lane_bits), 6),
        no_id, result, flip, flipped, own);
    EXECUTE format('COMMENT ON FUNCTION public.next_snowflake() IS %L', format(
        '%sThe next ID of worker %s of the ID space %s (layout %s/%s/%s/%s, tick %s ms): '
        'unique, greater than all IDs this function gave before. Volatile; works as a DEFAULT. '
        'Errors: SNF01 clock too far behind, SNF02 clock outside the layout, '
        'SNF03 a copy of another database, 25006 read-only transaction.',
        CASE WHEN n.disposable
             THEN 'FOR TESTS ONLY: this ID space is disposable, and copies of the database give the same IDs. '
             ELSE '' END,
        n.function_worker, n.id, n.timestamp_bits, n.datacenter_bits, n.worker_bits, n.sequence_bits, unit_ms));
END $install$;

COMMENT ON PROCEDURE pgflurry.install_next_snowflake() IS
'Writes layout and worker of the namespace row into the text of next_snowflake(), '
'and makes the sequence pgflurry.lane if it is missing. '
'May be run again at any time; in a copy the function still refuses to draw.';
