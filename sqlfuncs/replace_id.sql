-- next_replace_id(name): the ticket table of old MySQL sites, REPLACE INTO ... and LAST_INSERT_ID(). In PostgreSQL one
-- statement deletes the row of the name and inserts it again with the next number of a sequence.
--
-- A committed number never comes again. A rolled-back number leaves a gap, because sequences are not transactional. But
-- a crash right after the rollback may forget the draw, and then the number comes again. A draw locks the name until
-- the transaction ends. It leaves one dead row with two dead index entries for vacuum.
--
-- The unique key on the name does two things. A session finds no row to delete if another one has just inserted it. The
-- key then makes its insert fail instead of adding a second row, and the session tries again. And the delete finds its
-- row by the key's index.
--
-- A restore of the data alone sets the sequence back, and leaves the newer rows. Each draw notices that: every row it
-- sees was drawn before, so it has a smaller number. If one has a greater number, the draw leads the sequence past it.
-- It uses nextval for that, because a second session's setval could set the sequence back again.

CREATE OR REPLACE FUNCTION pgflurry.next_replace_id(name text) RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $fn$
DECLARE
    drawn   bigint;
    highest bigint;
BEGIN
    PERFORM pgflurry.check_text('next_replace_id', 'name', name);
    LOOP
        BEGIN
            -- The insert reads the count of the delete, so the row is gone before its successor comes.
            WITH gone AS (
                DELETE FROM pgflurry.replace_sequence AS r WHERE r.seq_name = name RETURNING r.seq_id
            )
            INSERT INTO pgflurry.replace_sequence AS r (seq_name)
                SELECT name FROM (SELECT count(*) FROM gone) AS done
                RETURNING r.seq_id, (SELECT max(old.seq_id) FROM pgflurry.replace_sequence AS old)
                INTO drawn, highest;
            IF drawn > highest IS NOT FALSE THEN
                RETURN drawn;
            END IF;
            WHILE drawn < highest LOOP
                drawn := nextval('pgflurry.replace_sequence_seq_id_seq');
            END LOOP;
        EXCEPTION WHEN unique_violation THEN
            -- Another session has replaced the row meanwhile. The next statement sees what that committed, unless the
            -- whole transaction keeps one snapshot.
            IF current_setting('transaction_isolation') NOT IN ('read committed', 'read uncommitted') THEN
                RAISE EXCEPTION 'next_replace_id: another transaction has drawn for %', quote_literal(name)
                    USING ERRCODE = '40001', HINT = 'Retry the transaction.';
            END IF;
        END;
    END LOOP;
END $fn$;

COMMENT ON FUNCTION pgflurry.next_replace_id(text) IS
'The next number for a name, which need not exist; all names draw from one sequence. '
'A committed number never comes again; a rolled-back one leaves a gap, '
'or comes again if the server crashes right afterwards. '
'If a restore has set the sequence back, numbers go on above the highest in the table. '
'The name is locked until the end of the transaction, and each draw leaves a dead row. '
'Errors: 22023 NULL or not 1 to 255 characters, 2200H no larger bigint, 25006 read-only transaction, '
'40001 in REPEATABLE READ.';
