-- Closes a database for good: no statement and no proxy gets an ID, a number, a token or a lock from it any more. It is
-- the first step of every move in which the original lives on. After it the other one may take its place.
--
-- Two words count, and each is enough. A row would not do alone: draws go on in a statement that began before, with the
-- snapshot that it had. A sequence would not do alone: a dump that is restored, or a script, sets it back.
-- advance_slowly() reads both under the lock of the lane. close_database() sets them while it holds the locks of both
-- lanes, and sends both lanes to START. A draw that comes after that is no ID, so it comes to advance_slowly(). So the
-- hot path pays nothing.
-- The word for a copy is the row: closed_at. A dump has it if all rows of the dump are later than the closing.
-- The sequence has the word only if close_database() wrote it. A restore, or a subscription to all sequences of another
-- database (PostgreSQL 19), sets it as setval() does, which leaves log_cnt at 0. close_database() ends with nextval(),
-- which leaves log_cnt above 0. After a crash log_cnt is 0, too. Then no snapshot is older than the row, so the row is
-- enough.

CREATE OR REPLACE FUNCTION pgflurry.is_closed() RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $fn$
BEGIN
    RETURN (SELECT c.last_value > 0 AND c.log_cnt > 0 FROM pgflurry.closed AS c)
        OR EXISTS (SELECT FROM pgflurry.namespace AS n WHERE n.closed_at IS NOT NULL);
END $fn$;
COMMENT ON FUNCTION pgflurry.is_closed() IS
'Whether "pgflurry namespace close" has closed this database. '
'It is true for every statement from then on, whatever its snapshot.';

CREATE OR REPLACE PROCEDURE pgflurry.refuse_closed(what text)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $fn$
BEGIN
    RAISE EXCEPTION '%: database "%" is closed for good', what, current_database()
        USING ERRCODE = 'SNF04',
              HINT = 'Another database has taken its place: connect to that one. '
                  'If none has, the operator runs "pgflurry migrate up --database URL", which says how to go on.';
END $fn$;
COMMENT ON PROCEDURE pgflurry.refuse_closed(text) IS
'Error SNF04: the database is closed for good. what: who is refused.';

CREATE OR REPLACE PROCEDURE pgflurry.close_database()
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $fn$
DECLARE
    n pgflurry.namespace;
BEGIN
    PERFORM pg_advisory_xact_lock(8099555070862062201);  -- the lock of "pgflurry migrate"
    -- Transactions that have written one of these tables end first. So a dump that is made from now on has them.
    LOCK TABLE pgflurry.namespace, pgflurry.worker, pgflurry.segment, pgflurry.auto_increment,
        pgflurry.replace_sequence, pgflurry.counter, pgflurry.token, pgflurry.lock IN SHARE ROW EXCLUSIVE MODE;
    IF NOT pgflurry.is_original() THEN
        RAISE EXCEPTION 'database "%" cannot be closed: %', current_database(),
            coalesce(pgflurry.why_copied(), 'it has no namespace')
            USING ERRCODE = 'object_not_in_prerequisite_state', HINT = 'It gives no IDs.';
    END IF;
    UPDATE pgflurry.namespace
        SET generation = pgflurry.next_generation(generation), closed_at = coalesce(closed_at, clock_timestamp())
        RETURNING * INTO STRICT n;
    LOCK TABLE pgflurry.function_lock, pgflurry.function_lock_stand_in IN SHARE UPDATE EXCLUSIVE MODE;
    PERFORM setval('pgflurry.closed'::regclass, n.generation - 1);
    PERFORM nextval('pgflurry.closed'::regclass);
    CALL pgflurry.begin_anew(false);
END $fn$;
COMMENT ON PROCEDURE pgflurry.close_database() IS
'Closes this database for good, as "pgflurry namespace close" does. Draws, leases and the other ways fail with SNF04 '
'from the commit on. Waits for open transactions that have written pgflurry''s tables. May be run again. '
'Error 55000 in a copy; 25006 on a standby.';

CREATE OR REPLACE PROCEDURE pgflurry.end_closing()
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $fn$
BEGIN
    IF EXISTS (SELECT FROM pgflurry.namespace AS n WHERE n.closed_at IS NULL) AND pgflurry.is_closed() THEN
        PERFORM setval('pgflurry.closed'::regclass, 0);
    END IF;
END $fn$;
COMMENT ON PROCEDURE pgflurry.end_closing() IS
'Lets draws go on if the row does not say that the database is closed: its operator has said what it shall be, '
'and only the sequence still has the word, as in a dump of a closed database.';
