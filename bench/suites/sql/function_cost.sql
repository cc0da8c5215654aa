-- Measures what next_snowflake() costs inside PostgreSQL, and for comparison the parts that it consists of.
-- Each is called 4,000 times in a loop, in eleven interleaved rounds. The result is microseconds per call, of the
-- fastest round. Each call is a transaction of its own, as a client's statement would be. There is no network and no
-- client, and all data is in the processor's caches. Run it with psql, as the role that installed the function:
--
--      psql -qX -f bench/suites/sql/function_cost.sql "postgres://me@127.0.0.1:5432/app"
\set ON_ERROR_STOP on
SET client_min_messages = warning;
DROP SCHEMA IF EXISTS pgflurry_cost CASCADE;
CREATE SCHEMA pgflurry_cost;
CREATE UNLOGGED SEQUENCE pgflurry_cost.drawn;
CREATE FUNCTION pgflurry_cost.empty() RETURNS bigint LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS
'BEGIN RETURN 1; END';
CREATE FUNCTION pgflurry_cost.draws() RETURNS bigint LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS
$$ BEGIN RETURN pg_catalog.nextval('pgflurry_cost.drawn'::pg_catalog.regclass); END $$;
CREATE TABLE pgflurry_cost.part (
    number integer, what text, statement text, seconds double precision DEFAULT 'infinity');
INSERT INTO pgflurry_cost.part VALUES
    (1, 'nothing', 'NULL'),
    (2, 'nextval() of an unlogged sequence', $$PERFORM nextval('pgflurry_cost.drawn')$$),
    (3, 'a function that is empty', 'PERFORM pgflurry_cost.empty()'),
    (4, 'a function that draws', 'PERFORM pgflurry_cost.draws()'),
    (5, 'next_snowflake()', 'PERFORM next_snowflake()'),
    (6, 'what starts a tick', $$PERFORM pgflurry.advance(nextval('pgflurry.lane'))$$);
CREATE PROCEDURE pgflurry_cost.measure() LANGUAGE plpgsql AS $measure$
DECLARE
    part pgflurry_cost.part;
    began timestamptz;
BEGIN
    FOR round IN 1..11 LOOP
        FOR part IN SELECT * FROM pgflurry_cost.part ORDER BY number LOOP
            EXECUTE format('CREATE OR REPLACE PROCEDURE pgflurry_cost.turns() LANGUAGE plpgsql AS'
                ' $turns$ BEGIN FOR i IN 1..4000 LOOP %s; COMMIT; END LOOP; END $turns$', part.statement);
            COMMIT;
            began := clock_timestamp();
            CALL pgflurry_cost.turns();
            UPDATE pgflurry_cost.part p SET seconds = least(seconds, date_part('epoch', clock_timestamp() - began))
                WHERE p.number = part.number;
        END LOOP;
    END LOOP;
END $measure$;
CALL pgflurry_cost.measure();
SELECT what AS "each turn", round((seconds / 4000 * 1e6)::numeric, 2) AS "us" FROM pgflurry_cost.part ORDER BY number;
DROP SCHEMA pgflurry_cost CASCADE;
