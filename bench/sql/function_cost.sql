-- What next_snowflake() costs beside its parts: for each the microseconds of a turn of a loop of 4,000, each turn a transaction of its own
-- as a statement's would be, without network and client. Run it with psql, as a role that may make a schema, a few times:
--
--      psql -qAtX -f bench/sql/function_cost.sql "postgres://me@127.0.0.1:5432/app"
\set ON_ERROR_STOP on
SET client_min_messages = warning;
DROP SCHEMA IF EXISTS pgflurry_cost CASCADE;
CREATE SCHEMA pgflurry_cost;
CREATE UNLOGGED SEQUENCE pgflurry_cost.drawn;
CREATE FUNCTION pgflurry_cost.empty() RETURNS bigint LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS 'BEGIN RETURN 1; END';
CREATE FUNCTION pgflurry_cost.draws() RETURNS bigint LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS
$$ BEGIN RETURN pg_catalog.nextval('pgflurry_cost.drawn'::pg_catalog.regclass); END $$;
CREATE PROCEDURE pgflurry_cost.measure(what text, statement text) LANGUAGE plpgsql AS $measure$
DECLARE
    began timestamptz;
    least double precision := 'infinity';
BEGIN
    EXECUTE format($loop$
CREATE OR REPLACE PROCEDURE pgflurry_cost.turns() LANGUAGE plpgsql AS
$turns$ BEGIN FOR i IN 1..4000 LOOP %s; COMMIT; END LOOP; END $turns$ $loop$, statement);
    FOR round IN 1..11 LOOP
        COMMIT;
        began := clock_timestamp();
        CALL pgflurry_cost.turns();
        least := least(least, date_part('epoch', clock_timestamp() - began));
    END LOOP;
    RAISE WARNING '%: % us', what, round((least / 4000 * 1e6)::numeric, 2);
END $measure$;
CALL pgflurry_cost.measure('nothing', 'NULL');
CALL pgflurry_cost.measure('nextval of an unlogged sequence', $$PERFORM nextval('pgflurry_cost.drawn')$$);
CALL pgflurry_cost.measure('an empty function', 'PERFORM pgflurry_cost.empty()');
CALL pgflurry_cost.measure('a function that draws', 'PERFORM pgflurry_cost.draws()');
CALL pgflurry_cost.measure('next_snowflake()', 'PERFORM next_snowflake()');
DROP SCHEMA pgflurry_cost CASCADE;
