-- Native sequences for several servers that must not give the same number: of n servers, server k draws from sequence
-- NAME_k, which gives k, k + n, k + 2n ... Everything here runs with the rights of the caller, who needs CREATE on the
-- schema, or owns the sequences. To draw, a role needs USAGE on a sequence, as always.

CREATE OR REPLACE FUNCTION pgflurry.check_offsets(caller text, here text, name text, servers integer, server integer,
    OUT schema text, OUT base text)
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $fn$
DECLARE
    parts text[];
BEGIN
    PERFORM pgflurry.check_text(caller, 'name', name);
    IF servers IS NULL OR servers < 1 OR servers > 65535 THEN
        RAISE EXCEPTION '%: the number of servers is %, not 1 to 65535', caller, coalesce(servers::text, 'null')
            USING ERRCODE = '22023', HINT = 'It is the distance of two numbers of one server.';
    END IF;
    IF server NOT BETWEEN 1 AND servers THEN
        RAISE EXCEPTION '%: server % is not 1 to %', caller, server, servers
            USING ERRCODE = '22023', HINT = 'Servers are numbered from 1.';
    END IF;
    IF server IS NULL AND servers > 256 THEN
        RAISE EXCEPTION '%: % sequences are more than 256', caller, servers
            USING ERRCODE = '22023', HINT = 'Name the server whose sequence is wanted here.';
    END IF;
    BEGIN
        parts := parse_ident(name);
    EXCEPTION WHEN invalid_parameter_value THEN
        parts := ARRAY[''];
    END;
    IF array_length(parts, 1) > 2 OR '' = ANY (parts) THEN
        RAISE EXCEPTION '%: % is no name of a sequence', caller, quote_literal(name)
            USING ERRCODE = '22023', HINT = 'Write NAME or SCHEMA.NAME.';
    END IF;
    base := parts[array_upper(parts, 1)];
    schema := CASE WHEN array_length(parts, 1) = 2 THEN parts[1] ELSE here END;
    IF schema IS NULL OR to_regnamespace(quote_ident(schema)) IS NULL THEN
        RAISE EXCEPTION '%: there is no schema %', caller, coalesce(quote_ident(schema), 'to create in')
            USING ERRCODE = '3F000', HINT = 'Write SCHEMA.NAME with a schema that exists.';
    END IF;
    IF octet_length(base) + 1 + length(servers::text) > 63 THEN
        RAISE EXCEPTION '%: name % is too long: with a server''s number it has more than 63 bytes',
            caller, quote_literal(base)
            USING ERRCODE = '42622', HINT = 'Choose a shorter one.';
    END IF;
END $fn$;
COMMENT ON FUNCTION pgflurry.check_offsets(text, text, text, integer, integer) IS
'Part of create_offset_sequences() and replan_offset_sequences(): checks their arguments; '
'here is the schema for a name without one.';

CREATE OR REPLACE FUNCTION pgflurry.offset_numbers(schema text, base text) RETURNS integer[]
LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $fn$
    SELECT array_agg(k ORDER BY k) FROM (
        SELECT substr(c.relname, length(base) + 2)::integer AS k FROM pg_class AS c
        WHERE c.relkind = 'S' AND c.relnamespace = to_regnamespace(quote_ident(schema))
          AND starts_with(c.relname, base || '_')
          AND substr(c.relname, length(base) + 2) ~ '^[1-9][0-9]{0,4}$') AS numbered
$fn$;
COMMENT ON FUNCTION pgflurry.offset_numbers(text, text) IS
'Which sequences BASE_k of a schema there are: the numbers k in rising order, NULL for none.';

CREATE OR REPLACE FUNCTION pgflurry.offset_plan_hint(name text, servers integer) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $fn$
    SELECT format('If each server has a database of its own, choose a number ABOVE that none reaches before its turn, '
        'and on each with its number as SERVER run: SELECT pgflurry.replan_offset_sequences(%L, %s, ABOVE, SERVER)',
        name, servers)
$fn$;
COMMENT ON FUNCTION pgflurry.offset_plan_hint(text, integer) IS
'Part of create_offset_sequences() and replan_offset_sequences(): a hint for servers with databases of their own.';

CREATE OR REPLACE FUNCTION pgflurry.make_offset_sequences(here text, name text, servers integer, server integer)
RETURNS SETOF text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $fn$
DECLARE
    at    record;
    one   text;
    other record;
BEGIN
    SELECT * INTO at FROM pgflurry.check_offsets('create_offset_sequences', here, name, servers, server);
    -- An existing sequence of another plan, or one that was replanned, has numbers that a new one would give again.
    SELECT format('%I.%I', at.schema, at.base || '_' || k) AS name, p.seqstart, p.seqincrement INTO other
        FROM unnest(pgflurry.offset_numbers(at.schema, at.base)) AS k
        JOIN pg_sequence AS p ON p.seqrelid = to_regclass(format('%I.%I', at.schema, at.base || '_' || k))
        WHERE p.seqincrement <> servers OR p.seqstart <> k ORDER BY k LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'create_offset_sequences: % begins at % with the step %: '
            'numbers of a new one for % servers would meet those that were given',
            other.name, other.seqstart, other.seqincrement, servers
            USING ERRCODE = '55000',
                  HINT = 'If all sequences are in this database, call pgflurry.replan_offset_sequences(name, servers): '
                      'it makes what is missing.' || E'\n' || pgflurry.offset_plan_hint(name, servers);
    END IF;
    FOR k IN coalesce(server, 1) .. coalesce(server, servers) LOOP
        one := format('%I.%I', at.schema, at.base || '_' || k);
        IF to_regclass(one) IS NOT NULL THEN
            RAISE EXCEPTION 'create_offset_sequences: % is there already', one
                USING ERRCODE = '42P07',
                      HINT = 'To change the number of servers call pgflurry.replan_offset_sequences(name, servers).';
        END IF;
        EXECUTE format('CREATE SEQUENCE %s AS bigint INCREMENT BY %s START WITH %s', one, servers, k);
        RETURN NEXT one;
    END LOOP;
END $fn$;
COMMENT ON FUNCTION pgflurry.make_offset_sequences(text, text, integer, integer) IS
'Part of create_offset_sequences(); here is the schema for a name without one.';

CREATE OR REPLACE FUNCTION pgflurry.create_offset_sequences(name text, servers integer, server integer DEFAULT NULL)
RETURNS SETOF text
LANGUAGE sql VOLATILE PARALLEL UNSAFE
RETURN pgflurry.make_offset_sequences(current_schema()::text, name, servers, server);
COMMENT ON FUNCTION pgflurry.create_offset_sequences(text, integer, integer) IS
'Makes the sequences name_1 to name_servers, each INCREMENT BY servers and START WITH its number, '
'and returns their names; with a server only that one''s. A name without a schema is in the current one. '
'All in one database, or one in the database of each server. '
'The first numbers are 1 to servers. A server that joins others, with a database of its own, '
'must therefore also call replan_offset_sequences() in the same transaction. '
'Errors: 22023 a name NULL, empty or no identifier, servers not 1 to 65535, server not 1 to servers, '
'more than 256 sequences at once; 42622 name too long, 42P07 a sequence exists, '
'55000 one exists that has another step or was replanned, 3F000 no schema, 42501 no right to create.';

CREATE OR REPLACE FUNCTION pgflurry.move_offset_sequences(
    here text, name text, servers integer, above bigint, server integer)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $fn$
DECLARE
    caller  constant text := 'replan_offset_sequences';
    at      record;
    numbers integer[];
    locked  integer[];
    missing integer;
    highest bigint := 0;
    base    numeric;
    last    bigint;
    one     text;
BEGIN
    SELECT * INTO at FROM pgflurry.check_offsets(caller, here, name, servers, server);
    PERFORM pgflurry.check_isolation(caller);
    LOOP  -- until the list has no sequence that is not locked yet
        numbers := pgflurry.offset_numbers(at.schema, at.base);
        IF numbers IS NULL THEN
            RAISE EXCEPTION '%: there are no sequences %', caller, format('%I.%I', at.schema, at.base || '_1') || ' ...'
                USING ERRCODE = '42704', HINT = format(
                    'For a new plan call pgflurry.create_offset_sequences(%1$L, %2$s). '
                    'For a server that joins others, with the number ABOVE that they were given, run: '
                    'BEGIN; SELECT pgflurry.create_offset_sequences(%1$L, %2$s, %3$s); '
                    'SELECT pgflurry.replan_offset_sequences(%1$L, %2$s, ABOVE, %3$s); COMMIT',
                    name, servers, coalesce(server::text, 'SERVER'));
        END IF;
        EXIT WHEN numbers = locked;
        FOREACH one IN ARRAY ARRAY(
            SELECT format('%I.%I', at.schema, at.base || '_' || k)
            FROM unnest(numbers) AS k WHERE k > servers OR k <> server)
        LOOP
            RAISE EXCEPTION '%: sequence % is not in the plan: its numbers would meet those of the others', caller, one
                USING ERRCODE = '55000', HINT = CASE WHEN server IS NULL
                    THEN 'Let nobody draw from it, note its last_value, drop it, and give a number above that.'
                    ELSE 'If all servers draw in this database, leave the number of the server out. '
                        'If this one is a copy of another server''s, drop the sequence.' END;
        END LOOP;
        -- Only the caller knows what those sequences gave that are elsewhere, or were dropped.
        SELECT k INTO missing FROM generate_series(1, greatest(CASE WHEN server IS NOT NULL THEN servers END, (
                SELECT max(p.seqincrement) FROM pg_sequence AS p, unnest(numbers) AS k
                WHERE p.seqrelid = to_regclass(format('%I.%I', at.schema, at.base || '_' || k))))) AS k
            WHERE k <> ALL (numbers) ORDER BY k DESC LIMIT 1;
        IF above IS NULL AND missing IS NOT NULL THEN
            RAISE EXCEPTION '%: sequence % is not here, so its numbers are not known, and above is null', caller,
                format('%I.%I', at.schema, at.base || '_' || missing)
                USING ERRCODE = '22023', HINT = 'If it was dropped, give an above that is no less than the last number '
                    'it gave.' || E'\n' || pgflurry.offset_plan_hint(name, servers);
        END IF;
        -- From here on nobody draws from them until this transaction ends. It waits for open transactions that have
        -- drawn.
        FOREACH one IN ARRAY ARRAY(
            SELECT format('%I.%I', at.schema, at.base || '_' || k) FROM unnest(numbers) AS k ORDER BY k)
        LOOP
            EXECUTE format('ALTER SEQUENCE %s INCREMENT BY %s', one, servers);
            EXECUTE format('SELECT last_value FROM %s', one) INTO STRICT last;
            highest := greatest(highest, last);
        END LOOP;
        locked := numbers;
    END LOOP;
    IF above < highest THEN
        RAISE EXCEPTION '%: number % has been reached, and the new numbers shall begin above %', caller, highest, above
            USING ERRCODE = '22023', HINT = format('Nothing is changed. Plan again, with a larger number on every '
                'server. If another server already draws above %s, numbers from %s to %s may have come twice.',
                above, above + 1, highest);
    END IF;
    base := ceil(greatest(highest, above)::numeric / servers) * servers;
    IF base + servers > 9223372036854775807 THEN
        RAISE EXCEPTION '%: there is no room for new numbers above %', caller, greatest(highest, above)
            USING ERRCODE = '2200H', HINT = 'Nothing is changed. The last bigint is 9223372036854775807.';
    END IF;
    FOR k IN coalesce(server, 1) .. coalesce(server, servers) LOOP
        EXECUTE format(CASE WHEN k = ANY (numbers) THEN 'ALTER SEQUENCE %1$I.%2$I START WITH %4$s RESTART WITH %4$s'
                            ELSE 'CREATE SEQUENCE %1$I.%2$I AS bigint INCREMENT BY %3$s START WITH %4$s' END,
            at.schema, at.base || '_' || k, servers, base + k);
    END LOOP;
    RETURN base;
END $fn$;
COMMENT ON FUNCTION pgflurry.move_offset_sequences(text, text, integer, bigint, integer) IS
'Part of replan_offset_sequences(); here is the schema for a name without one.';

CREATE OR REPLACE FUNCTION pgflurry.replan_offset_sequences(
    name text, servers integer, above bigint DEFAULT NULL, server integer DEFAULT NULL)
RETURNS bigint
LANGUAGE sql VOLATILE PARALLEL UNSAFE
RETURN pgflurry.move_offset_sequences(current_schema()::text, name, servers, above, server);
COMMENT ON FUNCTION pgflurry.replan_offset_sequences(text, integer, bigint, integer) IS
'Changes the number of servers: moves all sequences of create_offset_sequences() in this database to the new step, '
'each beyond every number that any of them gave and beyond above, and makes the missing ones. '
'Draws wait meanwhile. Returns the number above which they begin. '
'Servers with databases of their own: call it in each with its server and the same above. '
'Choose it so large that no server reaches it before its turn. '
'A server that joins calls it in the transaction in which it makes its sequence. '
'Without above, all sequences of the plan must be in this database. '
'Errors: 55000 a sequence that is not in the plan, 22023 above was reached already (the error has both numbers), '
'or is missing; '
'42704 no sequences, 25000 not READ COMMITTED, 2200H no larger bigint, and those of create_offset_sequences().';
