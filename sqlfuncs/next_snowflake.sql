-- next_snowflake(): IDs inside PostgreSQL, strictly unique and increasing, without an extension.
--
-- How it works. The unlogged sequence pgflurry.lane is clock and counter in one. Its value is
--
--      tick << C | counter         C = 63 - timestamp_bits, so 20 to 35
--
-- A counter below 2^sequence_bits is an ID of that tick. Larger counters are headroom and never become IDs. The first
-- 1/32 of the sequence belongs to the stand-in (see there): a tick of the lane begins behind it.
-- Each call draws once (nextval). If the draw's counter is an ID, and its tick is at most lag behind the clock, the
-- call returns it. Lag is 4 ms, or 0 if a unit is longer. So one tick serves several milliseconds, because starting a
-- tick is the expensive part.
-- Otherwise the call throws its draw away, and advance() starts a new tick: the clock's, or the next one if the lane is
-- ahead. It leaves rare cases to advance_slowly().
--
-- Why no ID comes twice.
--  1. Between two setval() draws increase, because nextval and setval of one sequence exclude each other.
--  2. Only the holder of the lock sets a tick. It draws first, sees tick m, and sets a tick above m. No other session
--     can set one in between, however long the holder is paused. So each tick is set at most once, and the counters of
--     a tick start once. (advance_slowly() first shows the tick with a counter that is no ID.) Draws meanwhile only
--     raise the counter within m.
--  3. The counter must not run over into m+1. Only this function can draw (see Rights). A call whose first draw is at
--     or above three quarters of the counter sends the lane back to its START, unless it is refused. For a run over,
--     2^(C-2), at least 262,144, more calls would have to end between their draw and the setval. A call ends there if
--     it is refused (SNF03), if its backend dies, or by an error that its caller provokes and catches, at the end of
--     the stack or of shared memory. If somebody does all that, m+1 is a tick that nobody has set. Nobody will set it
--     either: the next tick set is above it, and mark covers the next block, too. If the lane was at START, the run
--     over leads to tick 1. There mark is further above the lane's block than above any tick that was set.
--     advance_slowly() sees that, and treats the lane as being at START.
--  4. START is tick 0 with a counter that is no ID (2^(C-1): sequence_bits is below C because an ID has at least one
--     worker bit). An unlogged sequence also stands at START after a crash, a promotion, a restore. From START
--     advance() continues at pgflurry.mark or later. Mark is above every tick ever set, because it is raised before the
--     tick is set. So while the server runs, it is safe to send the lane back to START at any moment, also late, also
--     without the lock. Point 5 is about a crash, which can lose the last values of mark.
--  5. mark is logged, but its WAL is flushed later: by a commit that waits for it, or by the server within about a
--     second. IDs above the mark that survives a crash may have reached a client. So a tick is set at most ahead = 1 s
--     (at least one tick) beyond the clock; a call that needs a later one waits. Only a start goes further. It first
--     sleeps for more than one tick. Then it sets exactly the clock + ahead + 1 tick, and waits while mark is above
--     that. All ticks before a crash were at most (clock then + ahead + 1 tick). The clock after the sleep is at least
--     one tick further. So the start after the crash is above them all, even if every mark since the start before was
--     lost.
--  6. A transaction that stores an ID commits after the mark that covers it was logged. So an ID that survives in the
--     database is covered by a mark that survives, whatever synchronous_commit says and whatever the clock does.
--  7. advance() is the fast path for two cases. In both the stand-in has not been at work, the lane is not at START,
--     and its tick is not fenced (point 9). In the first the tick to start is in the lane's block of ticks. When the
--     lane entered the block, the mark of point 4 was raised to the end of the block behind it, so it need not move.
--     The end of the layout is the end of a block, so the new tick does not pass it.
--     In the second the tick begins another block, as after a second in which nobody drew. Then advance() raises mark
--     before it sets the tick. It does so only where advance_slowly() would do no more: no commit waits for a standby,
--     and no transaction is the raiser (point 9); the function moved mark last, and not further than the lane's block
--     says (point 3, Foreign hands); the layout has not ended; the database is not closed. close_database() writes the
--     sequence closed under the lock of the lane, and every snapshot shows that at once.
--     All else is as in advance_slowly(): the same lock, a draw under it, a tick above that draw's and not too far
--     ahead of the clock (point 5). All other cases go to advance_slowly(). It gets only the first draw, and looks at
--     everything anew under the lock. Both functions take and return draws of the lane, so either may be of an older
--     version while an installation replaces them.
--  8. If an ID has all 63 bits, next_snowflake() flips the bits of its worker in each draw (XOR). If the bits between
--     sequence and tick were all 0, they are then the worker, and otherwise something else. So a counter that is no ID
--     cannot be taken for one.
--  9. Synchronous replication (synchronous_standby_names). An old primary may not know of its successor. So an ID that
--     is shown and not stored needs a mark that the standby has. A commit waits for the standby only if its transaction
--     wrote, and most callers write nothing. So ticks are started for everybody only below pgflurry.confirmed.
--     pgflurry.raiser is the transaction that raised mark last. PostgreSQL shows it as committed only after its wait
--     for the standby: then the mark is confirmed. Mark covers the next block, too. So if the raiser commits within a
--     second, nobody notices.
--     At or after confirmed a tick is fenced: its IDs are for callers that have written mark in their own transaction.
--     Their own commit comes after the mark of the tick, and waits. (An ID that a client saw before that commit is not
--     safe, as with nextval().) The counters of a fenced tick begin at 2^(C-1), which keeps other callers out. A tick
--     that was started for everybody is below confirmed: if its counter goes so far, that is no ID. The raiser itself
--     draws without the lock: it has written, and no two sessions get the same draw.
--     While mark moves, raiser is 0. So a call that is broken off leaves no witness for a mark that it did not write.
--     Both sequences are unlogged: after a crash or a promotion nothing is confirmed. A start is always fenced,
--     whatever they say.
--
-- What this asks of the clock. Only IDs that no surviving transaction stored depend on it. If a crash loses marks, the
-- clock at the next start must not be behind what it was when the last tick was set. (If that tick was not ahead of the
-- clock, a second behind does no harm.) If no mark is lost, a clock set back only makes callers wait or fail.
--
-- What a crash costs. IDs begin ahead + 1 tick, about 1 s, beyond the clock. The same holds for a new function, because
-- it looks like one that lost its first mark. If mark survived and is above that, by two blocks at most (about 2 s),
-- the first draw waits for the difference. The carry guard of point 3 costs the same. Starts cannot run away: each is
-- at a fixed distance from the clock.
--
-- What a failover costs. A standby that is promoted without the last WAL, asynchronous or not, is like a crash with
-- another clock. The lane is at START, and the WAL timeline is not the one in pgflurry.function_timeline. So that start
-- goes further beyond the clock, by the skew. A duplicate needs two faults: a mark must be lost AND the new server's
-- clock must be behind the old one's by more than the skew. With a synchronous standby no mark that an ID needs is lost
-- (point 9).
-- After its first tick the next one waits until the clock is within ahead of it, about the skew. If a second failover
-- in that time loses the first one's mark, no skew is left: the new clock must not be behind at all. The timeline is
-- noted after mark and lane were set. If the session dies in between, the next start has the skew again. If the
-- timeline survives, so does the mark before it. If the server does not show its timeline, every start has the skew.
--
-- What the fence leaves open. A cancelled or terminated wait for the standby looks like one that has ended. A cancel
-- request, pg_cancel_backend(), pg_terminate_backend() and a fast shutdown do that. If no standby is connected any
-- more, such a commit does not count. A standby that is out of reach may still look connected (wal_sender_timeout, 60
-- s). Then such a commit opens the ticks below mark to everybody, 2 s at most.
-- advance_slowly() raises synchronous_commit = off or local to on in its transaction. A transaction that lowers it
-- again before its commit, also by a rollback to a savepoint, does not wait. A statement that began before synchronous
-- replication was switched on does not know of it.
-- What the fence costs. While the raiser stays open, other callers write mark and wait until one of them has committed.
-- A long transaction that is alone pays about 2 us more for each draw, from the second second on.
--
-- Copies. A copy of the database that draws on would give the IDs of its original. So each session asks once, before
-- its first draw, whether this is the original and the function its own: pgflurry.may_draw(), in identity.sql. The
-- answer is a constant in the plans of the session, so a draw costs no more for it.
--
-- A lane that survives. PostgreSQL sends the lane to START in a crash, and keeps it in a clean shutdown. Aurora keeps
-- it in both, and may show a value that is older than the last draw. If the lane was ahead of the clock, it would go on
-- with ticks that were started already. So a session looks at the lane before its first draw. If no tick was started
-- since the server began, it waits until the clock is beyond the bound of point 5, counted from that beginning
-- (lane_wait(), in identity.sql). So all waits end about a second after the server's start, or with the skew, as after
-- a failover, about three. A tick that was started since is beyond the bound: it is at least clock + ahead + 1 tick,
-- after a sleep of more than a tick.
--
-- Foreign hands. A dump of data that is restored into the same database sets lane and mark back (pg_restore
-- --data-only). It does so by setval(), and setval() leaves log_cnt at 0. The function moves mark by setval() and one
-- nextval(), which leaves log_cnt above 0. So advance_slowly() sees that something else moved mark. It starts as after
-- a crash, beyond every tick that can have been set (point 5). A restore within about three seconds of its dump is not
-- seen in time, because the lane may be ahead of the clock for so long.
--
-- The stand-in. The holder of the lock may hang: its process was stopped, or the machine is overloaded. Nobody may take
-- the lock away, because the holder would set its tick late, and send the lane back. So there is a second lane, with a
-- lock, a mark and a share of the sequence of its own. A call that has waited 200 ms for the lock draws from it
-- (stand_in()). Everything above holds for each of the two lanes by itself, and no ID is in both shares. So nothing
-- comes twice, whenever the holder goes on.
-- While the lane's tick is older than the stand-in's, its holder still hangs, and others need not wait. The call that
-- gets the lock then starts a tick beyond the stand-in's, and everybody is back on the lane. The stand-in starts no
-- tick while the lane's is fresh, even if its own is beyond that. It starts one at least two ticks beyond the lane's,
-- so that it does not meet a lane whose counter ran over by one tick (point 3).
-- So IDs increase from one lane to the other. A holder may be stopped anywhere, and go on when the other lane has
-- moved. A start is 1 s ahead of the clock, so its tick can still be fresh then. So advance_slowly() first shows its
-- tick, with a counter that is no ID, and then looks at the other lane. If the stand-in is beyond it, or the lane has
-- moved, nobody can use that tick. Of two holders that start ticks in both lanes, at least one sees the other's. The
-- fast path needs no second look, unless a unit is longer than 20 ms (then it raises no mark): its tick is the clock's,
-- or follows a tick that was not fresh when the stand-in began. IDs may go back if the clock is stepped while a holder
-- hangs.
-- What the stand-in is not for. It gives 128 IDs a millisecond in the default layout, so a bulk statement is slower. If
-- the lane was ahead of the clock, by up to a second, a call waits for that as well: 1.4 s is the longest that was
-- measured. If a unit is a second, it waits up to three. A process that is stopped inside PostgreSQL's own short locks
-- stops everybody, as with nextval(). And a role may stop any table or sequence of any database with a statement that
-- locks first and checks rights later, as CREATE RULE does in PostgreSQL 15.
--
-- Waiting for a client. A session that holds a lock here must not wait for its client: a client that does not read
-- would stop everybody. A backend sends messages below ERROR in between, whatever the caller has set
-- (client_min_messages, debug_print_plan, ...). So the functions that take a lock set client_min_messages to error. An
-- ERROR is sent when the subtransaction with the lock has ended.
--
-- Rights. next_snowflake() is SECURITY DEFINER: its owner draws, callers need EXECUTE on it and nothing else. With
-- SECURITY INVOKER each caller would need USAGE on lane, and could then run nextval(lane) in a loop. 2^C draws would
-- push the counter into ticks that nobody set and no mark covers (point 3 would fall). Only the owner can call
-- advance(), so its argument is always a fresh draw.
-- Every operator is written with its schema, in advance() too, because the search_path belongs to the caller and the
-- rights to the owner. A fixed search_path would do it too, at twice the price of the whole call; advance_slowly() has
-- one.
--
-- lastval(). Many drivers and frameworks read the key of a row by it. It is the session's value in the sequence that
-- nextval() used last, and setval() changes that. So after a draw it is the lane's value. That is the ID if the ID has
-- all 63 bits and the worker is 0, but not at four rare returns: another sequence was used last, or an older draw is
-- returned. There the session uses the sequence shown, which nobody reads. So lastval() is always the ID, or else, with
-- another worker or fewer bits, never meant to be: each draw would have to set shown, at 0.4 us.
--
-- Speed. In a statement of its own each expression is prepared anew, so there are few, and constants stand in them as
-- numbers. The lock is of the weakest mode that excludes itself: a stronger one looks through the locks of every
-- backend.
--
-- Errors: SNF01 the clock is too far behind the last ID; SNF02 the clock is outside the years of the layout; SNF03 this
-- database is a copy, or the function another database's; SNF04 the database is closed for good; 25006 in a read-only
-- transaction or on a standby.

CREATE OR REPLACE PROCEDURE pgflurry.install_next_snowflake()
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp SET datestyle = ISO, YMD SET timezone = UTC SET extra_float_digits = 1
SET client_min_messages = warning  -- existing sequences stay as they are
AS $install$
DECLARE
    n               pgflurry.namespace;
    lane_bits       integer;  -- C: bits below the tick in the lane
    id_bits         integer;  -- bits below the tick in an ID
    unit_ms         integer;
    block_bits      integer;  -- mark moves in blocks of 2^block_bits ticks, about a second each
    ahead           bigint;   -- ticks that full ticks may drive the lane ahead of the clock
    start_value     bigint;
    no_id           bigint;   -- bits of a counter that is no ID
    room            bigint;   -- counters that a tick may begin with, from the first on
    share           bigint;   -- the stand-in's part of the sequence, from 0 on
    lag             bigint;   -- ticks that a draw may be behind the clock
    lag_limit       constant bigint := pgflurry.lag_limit();  -- the same while another session starts a tick
    patience        constant text := '200ms';  -- how long to wait for a lock whose holder may hang
    stand_in        boolean;
    own             text;     -- the ID space and the worker that the function is written for
    text_of_own     constant text := '''[0-9a-f-]+''::pg_catalog.uuid, [0-9]+';
    worker          bigint;   -- the worker at its place in an ID
    flipped         bigint := 0;        -- bits that next_snowflake() has flipped in what it draws
    flip            text := '';         -- how
    result          text := 'drawn';    -- from that to its ID
    show            text := '';         -- lets lastval() be v, in a statement of a rare return
    home            text;     -- a schema that has the function: public, or one with a clone
    possible        boolean;  -- it may be replaced there
    tick            text;     -- the tick of the clock
    begins          text;     -- the draw that a tick begins with
BEGIN
    SELECT * INTO STRICT n FROM pgflurry.namespace;
    lane_bits := 63 - n.timestamp_bits;
    id_bits := n.datacenter_bits + n.worker_bits + n.sequence_bits;
    unit_ms := (extract(epoch FROM n.unit) * 1000)::integer;
    block_bits := greatest(0, floor(log(2, 1024 / unit_ms::numeric)))::integer;
    ahead := ceil(1000 / unit_ms::numeric)::bigint;  -- at least 1
    start_value := 1::bigint << (lane_bits - 1);
    no_id := (start_value * 2 - 1) - ((1::bigint << n.sequence_bits) - 1);
    share := greatest((1::bigint << n.sequence_bits) / 32, 1);
    room := least(1::bigint << n.sequence_bits, start_value / 2) - share;  -- in a fenced tick as well
    lag := 4 / unit_ms;
    own := format('%L::pg_catalog.uuid, %s', n.id, n.function_worker);
    worker := n.function_worker::bigint << n.sequence_bits;
    -- If an ID has all 63 bits, its tick is where the lane's is, and the worker's bits are 0 in a draw that is an ID.
    -- Flipping the bits that are 1 in the worker makes it the ID, and no other draw can look like one.
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
    IF flip = '' AND result = 'drawn' THEN
        show := 'PERFORM pg_catalog.nextval(''pgflurry.shown''::pg_catalog.regclass);
            PERFORM pg_catalog.setval(''pgflurry.shown''::pg_catalog.regclass, v);';
    END IF;

    CREATE UNLOGGED SEQUENCE IF NOT EXISTS pgflurry.shown AS bigint MINVALUE 0 CACHE 1 CYCLE;
    COMMENT ON SEQUENCE pgflurry.shown IS
        'What lastval() shows after a draw whose ID the lane does not show. Nothing else reads it.';

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
    room           constant bigint := %3$s;              -- counters that a tick may begin with
    last_tick      constant bigint := %4$s;
    epoch          constant double precision := %5$s;    -- seconds since 1970
    unit           constant double precision := %6$s;    -- seconds
    block_bits     constant integer := %7$s;
    raiser_bits    constant integer := %25$s;            -- wait for an open raiser for so many ticks, log 2
    lag_limit      constant bigint := %8$s;
    ahead_limit    constant bigint := %9$s;
    worth_a_wait   constant bigint := %10$s;
    skew           constant bigint := %11$s;
    lag            constant bigint := %17$s;
    apart          constant bigint := %18$s;             -- distance in ticks from the other lane
    seconds  double precision;  -- since the epoch
    clock    bigint := 0;       -- the tick of the clock
    tick     bigint;            -- the lane's tick; 0: unknown (crash, promotion, carry guard)
    other    bigint;            -- the other lane's
    marked   bigint;            -- mark
    ours     boolean;           -- this function moved mark last
    target   bigint;            -- the tick to start
    reach    bigint;            -- how far beyond the clock it may be
    v        bigint;            -- the draw to return; NULL: none
    drew     bigint;            -- the draw under the lock
    here     bigint;            -- the server's WAL timeline; NULL: not shown
    known    bigint;            -- the timeline of the last start
    waiting  boolean := false;  -- whether to wait for the lock, because drawn is too old
    stuck    boolean := false;  -- the holder of the lock hangs
    counted  boolean := false;  -- whether this wait for the clock was counted
    used_up  boolean;           -- the lane's tick is used up, or the lane is at START
    entered  boolean;           -- the tick to start is in a block that mark does not cover with the next one
    waits    constant boolean := current_setting('synchronous_standby_names') <> '';  -- a commit waits for a standby
    raiser   bigint;            -- transaction that raised mark
    became   text;              -- its state
    bound    bigint;            -- confirmed
    fenced   boolean := false;  -- the tick is only for callers whose own commit waits
    bar      bigint := 0;       -- fence if the tick is fenced, else 0
    again    boolean := false;  -- the lane's tick is fenced too: use it, and start no other
    shown    bigint;            -- the tick to start, with a counter that is no ID
BEGIN
    -- A commit that does not wait must not look like one that has. This comes before the subtransaction, whose end
    -- would undo it.
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
            IF pgflurry.is_closed() THEN  -- whatever the snapshot of the statement is (closing.sql)
                CALL pgflurry.refuse_closed('next_snowflake');
            END IF;
            v := nextval('pgflurry.lane%12$s'::regclass);
            drew := v;
            tick := v >> lane_bits;
            SELECT last_value >> lane_bits INTO STRICT other FROM pgflurry.lane%16$s;
            SELECT last_value, log_cnt > 0 INTO STRICT marked, ours FROM pgflurry.mark%12$s;
            IF NOT ours OR (((tick >> block_bits) + 2) << block_bits) + 1 < marked THEN
                tick := 0;  -- not set by this function (point 3), or not last (Foreign hands)
            END IF;
            IF tick = 0 THEN  -- the start before a crash may have been in this very tick of the clock (point 5)
                PERFORM pg_sleep(unit + 0.001);
            END IF;
            seconds := date_part('epoch', clock_timestamp()) - epoch;
            clock := floor(seconds / unit)::bigint;
            used_up := (v & counter_bits) >= beyond;
            IF %21$s THEN
                v := NULL;
                stuck := true;  -- start no tick here, the other lane's is fresh
            ELSIF tick < clock - lag OR used_up OR other > tick THEN  -- else v is an ID: another session advanced it
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
                            became := NULL;  -- a number that this cluster has not reached yet
                        END;
                        -- If no standby is connected, somebody has cancelled the wait.
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
                        -- An open raiser may still commit. If raisers replace each other too soon, no commit is ever
                        -- seen.
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
                    -- A tick entered by the clock begins anywhere, so that a quiet database does not give only even
                    -- IDs. By a hash of the tick, and not by random(), whose sequence belongs to the session.
                    IF NOT used_up THEN
                        v := v + (hashint8extended(target, 0) & 9223372036854775807) %% room;
                    END IF;
                    -- First the tick is shown, with a counter that is no ID. Then comes a look at the other lane. Of
                    -- two sessions that start ticks in both lanes, one at least sees the other's.
                    shown := target << lane_bits | CASE WHEN fenced THEN fence_end ELSE beyond END;
                    IF again THEN
                        v := drew - fence;
                    ELSE
                        PERFORM setval('pgflurry.lane%12$s'::regclass, shown);
                    END IF;
                    IF %22$s THEN
                        PERFORM setval('pgflurry.lane%12$s'::regclass, shown);
                        v := NULL;
                    ELSIF NOT again THEN
                        PERFORM setval('pgflurry.lane%12$s'::regclass, v + bar);  -- v is ours; the next draw is v + 1
                    END IF;
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
                    -- Another session is advancing. The draw is unique at any time: use it unless it is too old.
                    clock := floor((date_part('epoch', clock_timestamp()) - epoch) / unit)::bigint;
                    IF (drawn & counter_bits) < beyond AND (drawn >> lane_bits) >= clock - lag_limit THEN
                        v := drawn;
                        %26$s
                        RETURN v;
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
            %26$s
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
        PERFORM pg_sleep(0.01);  -- without the lock: every waiting call lets the clock catch up
        waiting := true;
    END LOOP;
END $advance$
$create$,
            lane_bits, start_value * 2 - 1, CASE WHEN stand_in THEN 1 ELSE room END,
            (1::bigint << n.timestamp_bits) - 1,
            extract(epoch FROM n.epoch), unit_ms / 1000::numeric, block_bits, lag_limit, ahead,
            -- as far as mark may be beyond the clock after a start, and 2 s for a clock that was set back
            ahead + (2 << block_bits) + 2000 / unit_ms + pgflurry.ticks_of(n.skew),
            pgflurry.ticks_of(n.skew),
            CASE WHEN stand_in THEN '_stand_in' END, patience,
            CASE WHEN stand_in THEN 0 ELSE share END,
            CASE WHEN stand_in THEN share ELSE 1::bigint << n.sequence_bits END,
            CASE WHEN stand_in THEN '' ELSE '_stand_in' END, lag,
            CASE WHEN stand_in THEN 2 ELSE greatest(lag_limit, 1) END,
            CASE WHEN NOT stand_in THEN '-- No tick of this lane was started since the stand-in began:
                    -- the same holder still hangs.
                    SELECT last_value > drawn INTO STRICT stuck FROM pgflurry.lane_stand_in;' END,
            CASE WHEN stand_in THEN 'RETURN NULL;'
                 ELSE 'stuck := false;
            v := pgflurry.stand_in();
            IF v IS NULL THEN
                CONTINUE;
            END IF;' END,
            CASE WHEN stand_in THEN 'other >= clock - lag_limit' ELSE 'false' END,
            CASE WHEN stand_in
                 THEN '(SELECT last_value >> lane_bits FROM pgflurry.lane) >= least(other + 1, target - 1)'
                 ELSE '(SELECT last_value FROM pgflurry.lane_stand_in) > v' END,
            start_value,
            start_value + least(CASE WHEN stand_in THEN share ELSE 1::bigint << n.sequence_bits END, start_value / 2),
            greatest(block_bits - 2, 0), CASE WHEN NOT stand_in THEN show END);
    END LOOP;
    -- lastval() needs it; nobody can draw or set by it
    IF show = '' THEN
        REVOKE SELECT ON SEQUENCE pgflurry.lane, pgflurry.shown FROM PUBLIC;
    ELSE
        GRANT SELECT ON SEQUENCE pgflurry.lane, pgflurry.shown TO PUBLIC;
    END IF;
    COMMENT ON FUNCTION pgflurry.advance_slowly(bigint) IS
        'All rare cases of advance(): after a crash, if a commit waits for a standby, if the clock is behind. '
        'Takes a fresh draw of the lane, returns the one to use.';
    COMMENT ON FUNCTION pgflurry.advance_slowly_stand_in(bigint) IS
        'The same for the lane of the stand-in. NULL if its lock is not free either.';
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
        extract(epoch FROM n.epoch), unit_ms / 1000::numeric, lag_limit);
    COMMENT ON FUNCTION pgflurry.stand_in() IS
        'A draw from the reserved share of the sequence, for when the session that holds the lock of the lane hangs. '
        'NULL if another session holds the lock of this lane.';
    REVOKE ALL ON FUNCTION pgflurry.stand_in() FROM PUBLIC;

    -- the cast rounds, so half a tick is taken off first
    tick := format('((pg_catalog.date_part(''epoch''::pg_catalog.text, pg_catalog.clock_timestamp())'
        ' OPERATOR(pg_catalog.-) %s::double precision) OPERATOR(pg_catalog.*) %s::double precision)::bigint',
        extract(epoch FROM n.epoch) + unit_ms / 2000::numeric, 1000 / unit_ms::double precision);
    begins := format('(target OPERATOR(pg_catalog.<<) %s) OPERATOR(pg_catalog.|) CASE'
        ' WHEN (d OPERATOR(pg_catalog.&) %s::bigint) OPERATOR(pg_catalog.<>) 0::bigint THEN %s::bigint'
        ' ELSE %3$s::bigint OPERATOR(pg_catalog.+) ((pg_catalog.hashint8extended(target, 0::bigint)'
        ' OPERATOR(pg_catalog.&) 9223372036854775807::bigint) OPERATOR(pg_catalog.%%) %s::bigint) END',
        lane_bits, no_id, share, room);
    EXECUTE format($create$
CREATE OR REPLACE FUNCTION pgflurry.advance(drawn bigint) RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET client_min_messages = error AS $advance$
DECLARE
    d       bigint;  -- the draw under the lock
    clock   bigint;  -- the tick of the clock
    target  bigint;  -- the tick to start
    v       bigint;  -- the draw to return; NULL: none
BEGIN
    IF (drawn OPERATOR(pg_catalog.&) %5$s::bigint) OPERATOR(pg_catalog.>=) %12$s::bigint THEN
        -- Without the lock, because its holder may hang while others draw on. This is safe at any moment (point 4).
        IF (drawn OPERATOR(pg_catalog.&) %5$s::bigint) OPERATOR(pg_catalog.>=) %6$s::bigint THEN
            PERFORM pg_catalog.setval('pgflurry.lane'::pg_catalog.regclass, %12$s::bigint);
        -- The draw is of a fenced tick, and this transaction is the raiser.
        ELSIF (drawn OPERATOR(pg_catalog.&) %5$s::bigint) OPERATOR(pg_catalog.<) %15$s::bigint
              AND pg_catalog.pg_sequence_last_value('pgflurry.raiser'::pg_catalog.regclass)
                  OPERATOR(pg_catalog.=) pg_catalog.txid_current_if_assigned()
              AND pg_catalog.pg_sequence_last_value('pgflurry.confirmed'::pg_catalog.regclass)
                  OPERATOR(pg_catalog.<=) (drawn OPERATOR(pg_catalog.>>) %1$s)
              AND NOT %3$s OPERATOR(pg_catalog.>)
                  ((drawn OPERATOR(pg_catalog.>>) %1$s) OPERATOR(pg_catalog.+) %13$s::bigint) THEN
            v := drawn OPERATOR(pg_catalog.-) %12$s::bigint;
            %7$s
            RETURN v;
        END IF;
        RETURN pgflurry.advance_slowly(drawn);
    END IF;
    BEGIN
        LOCK TABLE pgflurry.function_lock IN SHARE UPDATE EXCLUSIVE MODE NOWAIT;
        d := pg_catalog.nextval('pgflurry.lane'::pg_catalog.regclass);
        clock := %3$s;
        IF pg_catalog.pg_sequence_last_value('pgflurry.lane_stand_in'::pg_catalog.regclass)
           OPERATOR(pg_catalog.>) d THEN
            NULL;  -- the stand-in was at work
        ELSIF clock OPERATOR(pg_catalog.>) ((d OPERATOR(pg_catalog.>>) %1$s) OPERATOR(pg_catalog.+) %13$s::bigint)
              OR (d OPERATOR(pg_catalog.&) %2$s::bigint) OPERATOR(pg_catalog.<>) 0::bigint THEN
            target := CASE WHEN clock OPERATOR(pg_catalog.>) (d OPERATOR(pg_catalog.>>) %1$s) THEN clock
                      ELSE (d OPERATOR(pg_catalog.>>) %1$s) OPERATOR(pg_catalog.+) 1::bigint END;
            IF (d OPERATOR(pg_catalog.&) %12$s::bigint) OPERATOR(pg_catalog.<>) 0::bigint
               OR target OPERATOR(pg_catalog.>) (clock OPERATOR(pg_catalog.+) %10$s::bigint) THEN
                NULL;  -- the lane is at START, its tick is fenced, or the next one is too far ahead
            ELSIF (target OPERATOR(pg_catalog.>>) %8$s) OPERATOR(pg_catalog.<>) (d OPERATOR(pg_catalog.>>) %9$s) THEN
                -- the next block, so the mark is raised first. No row: one of the rare cases (point 7)
                v := (SELECT CASE WHEN pg_catalog.setval('pgflurry.mark'::pg_catalog.regclass, b.mark)
                                       OPERATOR(pg_catalog.>) 0::bigint
                    THEN CASE WHEN pg_catalog.nextval('pgflurry.mark'::pg_catalog.regclass)
                                   OPERATOR(pg_catalog.>) b.mark
                    THEN CASE WHEN pg_catalog.setval('pgflurry.confirmed'::pg_catalog.regclass, b.mark)
                                   OPERATOR(pg_catalog.>) 0::bigint
                    THEN CASE WHEN pg_catalog.nextval('pgflurry.lane'::pg_catalog.regclass)  -- for lastval()
                                   OPERATOR(pg_catalog.>) 0::bigint
                    THEN pg_catalog.setval('pgflurry.lane'::pg_catalog.regclass, %14$s) END END END END
                    FROM pgflurry.mark AS m, pgflurry.closed AS c, pgflurry.namespace AS n,
                        (SELECT ((target OPERATOR(pg_catalog.>>) %8$s) OPERATOR(pg_catalog.+) 2::bigint)
                                OPERATOR(pg_catalog.<<) %8$s) AS b (mark)
                    WHERE pg_catalog.current_setting('synchronous_standby_names')
                          OPERATOR(pg_catalog.=) ''::pg_catalog.text
                      AND NOT pg_catalog.pg_sequence_last_value('pgflurry.raiser'::pg_catalog.regclass)
                          OPERATOR(pg_catalog.<>) 0::bigint
                      AND m.log_cnt OPERATOR(pg_catalog.>) 0::bigint
                      AND ((((d OPERATOR(pg_catalog.>>) %9$s) OPERATOR(pg_catalog.+) 2::bigint)
                            OPERATOR(pg_catalog.<<) %8$s) OPERATOR(pg_catalog.+) 2::bigint)
                          OPERATOR(pg_catalog.>) m.last_value
                      AND NOT (c.last_value OPERATOR(pg_catalog.>) 0::bigint
                               AND c.log_cnt OPERATOR(pg_catalog.>) 0::bigint)
                      AND n.closed_at IS NULL
                      AND %4$s::bigint OPERATOR(pg_catalog.>) target);
            ELSE
                v := pg_catalog.setval('pgflurry.lane'::pg_catalog.regclass, %14$s);
            END IF;
        ELSE
            v := d;  -- another session has just advanced, and d is an ID
        END IF;
        RAISE SQLSTATE 'SNF00';  -- releases the lock
    EXCEPTION
        WHEN SQLSTATE 'SNF00' THEN
            NULL;
        WHEN lock_not_available THEN
            -- Another session is advancing. The draw is unique at any time: use it unless it is too old.
            clock := %3$s;
            IF NOT clock OPERATOR(pg_catalog.>)
                   ((drawn OPERATOR(pg_catalog.>>) %1$s) OPERATOR(pg_catalog.+) %11$s::bigint)
               AND NOT (drawn OPERATOR(pg_catalog.&) %2$s::bigint) OPERATOR(pg_catalog.<>) 0::bigint THEN
                RETURN drawn;
            END IF;
    END;
    IF v IS NULL THEN
        RETURN pgflurry.advance_slowly(drawn);
    END IF;
    RETURN v;
END $advance$
$create$,
        lane_bits, no_id, tick,
        -- a longer unit needs the second look at the stand-in
        CASE WHEN lag_limit = 0 THEN 0 ELSE 1::bigint << n.timestamp_bits END,
        start_value * 2 - 1, start_value + start_value / 2, show,
        block_bits, lane_bits + block_bits, ahead, lag_limit, start_value, lag, begins,
        start_value + least(1::bigint << n.sequence_bits, start_value / 2));
    COMMENT ON FUNCTION pgflurry.advance(bigint) IS
        'Starts a tick that was never used, or leaves it to advance_slowly(). '
        'Takes a fresh draw of the lane, returns the one to use.';
    REVOKE ALL ON FUNCTION pgflurry.advance(bigint) FROM PUBLIC;

    -- Tools for tenants clone public with the function in it. A clone has the text of the one in public, though perhaps
    -- another ID space or worker in it, and an owner that pgflurry trusts. It gets the new text as well.
    FOR home, possible IN
        SELECT 'public', true
        UNION ALL
        SELECT s.nspname, has_schema_privilege(s.oid, 'CREATE') AND pg_has_role(p.proowner, 'USAGE')
        FROM pg_proc AS o JOIN pg_proc AS p
            ON p.proname = o.proname AND p.oid <> o.oid AND p.pronargs = 0 AND p.prorettype = o.prorettype
           AND p.prolang = o.prolang AND NOT p.proretset AND p.prokind = 'f'
           AND regexp_replace(p.prosrc, text_of_own, '', 'g') = regexp_replace(o.prosrc, text_of_own, '', 'g')
        JOIN pg_namespace AS s ON s.oid = p.pronamespace
        WHERE o.oid = to_regprocedure('public.next_snowflake()')
          AND pg_has_role(p.proowner, (SELECT nspowner FROM pg_namespace WHERE nspname = 'pgflurry'), 'MEMBER')
    LOOP
        IF NOT possible THEN
            RAISE WARNING 'role "%" may not replace the clone of next_snowflake() in schema "%"', current_user, home
                USING HINT = 'Its owner runs "pgflurry migrate up". Until then the clone may fail with SNF03.';
            CONTINUE;
        END IF;
        EXECUTE format($create$
CREATE OR REPLACE FUNCTION %8$I.next_snowflake() RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER AS $next$
DECLARE
    -- one expression, so that a session asks before it draws; then it is nextval() alone
    drawn bigint := (CASE WHEN pgflurry.may_draw(%7$s) THEN pg_catalog.nextval('pgflurry.lane'::pg_catalog.regclass)
                     ELSE pgflurry.first_draw(%7$s) END)%5$s;
BEGIN
    -- return an ID whose tick is at most lag behind the clock, or ahead of it; otherwise start a new tick
    IF pg_catalog.to_timestamp((drawn::double precision OPERATOR(pg_catalog.*) %1$s::double precision)
              OPERATOR(pg_catalog.+) %2$s::double precision) OPERATOR(pg_catalog.<=) pg_catalog.clock_timestamp()
       OR (drawn OPERATOR(pg_catalog.&) %3$s::bigint) OPERATOR(pg_catalog.<>) %6$s::bigint THEN
        drawn := pgflurry.advance(drawn%5$s)%5$s;
    END IF;
    RETURN %4$s;
END $next$
$create$,
        unit_ms / 1000::double precision / (1::bigint << lane_bits),
        -- the flipped bits are not part of the time
        extract(epoch FROM n.epoch + n.unit * (1 + lag))
            - round(flipped * unit_ms / 1000::numeric / (1::bigint << lane_bits), 6),
        no_id, result, flip, flipped, own, home);
    END LOOP;
    EXECUTE format('COMMENT ON FUNCTION public.next_snowflake() IS %L', format(
        '%sThe next ID of worker %s (layout %s/%s/%s/%s, tick %s ms): '
        'unique, greater than all IDs this function gave before. Volatile; works as a DEFAULT. '
        'After it lastval() is%s the ID. '
        'Errors: SNF01 clock too far behind, SNF02 clock outside the layout, '
        'SNF03 a copy of another database, SNF04 closed for good, 25006 read-only transaction.',
        CASE WHEN n.disposable
             THEN 'FOR TESTS ONLY: this ID space is disposable, and copies of the database give the same IDs. '
             ELSE '' END,
        n.function_worker, n.timestamp_bits, n.datacenter_bits, n.worker_bits, n.sequence_bits, unit_ms,
        CASE WHEN show = '' THEN ' not' ELSE '' END));
END $install$;

COMMENT ON PROCEDURE pgflurry.install_next_snowflake() IS
'Writes layout and worker of the namespace row into the text of next_snowflake(), '
'and makes the sequence pgflurry.lane if it is missing. '
'May be run again at any time; in a copy the function still refuses to draw.';
