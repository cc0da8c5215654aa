-- The parts of an ID, and the IDs of a span of time. The layout is written into the text of these functions. So they
-- are IMMUTABLE, read no table, and a query such as
--
--      SELECT ... WHERE id >= snowflake_floor(now() - interval '1 day')
--
-- uses the index on id. floor and ceil are exact against snowflake_time():
--
--      id >= snowflake_floor(t)   means   snowflake_time(id) >= t
--      id <= snowflake_ceil(t)    means   snowflake_time(id) <= t, or id is an old key
--
-- An old key is a number below the first day of ticks: a sequence gave it before its table was converted. No ID is so
-- small, because a namespace is made a day after its epoch or later (pgflurry.create_namespace). So every database of
-- an ID space draws the same line, from the layout alone. An old key has no time, and is below
-- snowflake_floor('-infinity'), the first possible ID.
--
-- Operators are written with their schema, because these functions run with the search_path of their caller.

CREATE OR REPLACE PROCEDURE pgflurry.install_decode()
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET datestyle = ISO, YMD SET timezone = UTC AS $install$
DECLARE
    n         pgflurry.namespace;
    id_bits   integer;  -- bits below the tick
    unit_us   bigint;
    first_tick bigint;  -- the first tick of an ID: a day after the epoch
    first_id  bigint;
    last_id   bigint;
    last_tick bigint;
    span      text;     -- for messages
    refuse_id text;     -- the check of an argument
BEGIN
    SELECT * INTO STRICT n FROM pgflurry.namespace;
    id_bits := n.datacenter_bits + n.worker_bits + n.sequence_bits;
    unit_us := (extract(epoch FROM n.unit) * 1000000)::bigint;
    first_tick := ceil(86400000000 / unit_us::numeric);
    first_id := first_tick << id_bits;
    last_tick := (1::bigint << n.timestamp_bits) - 1;
    last_id := (last_tick << id_bits) | ((1::bigint << id_bits) - 1);
    span := format('%s/%s/%s/%s', n.timestamp_bits, n.datacenter_bits, n.worker_bits, n.sequence_bits);
    refuse_id := format($check$
    IF id OPERATOR(pg_catalog.<) 0::bigint OR id OPERATOR(pg_catalog.>) %1$s::bigint THEN
        RAISE EXCEPTION '%% is not an ID of layout %2$s', id
            USING ERRCODE = '22003', HINT = 'IDs of this layout are 0 to %1$s.';
    END IF;$check$, last_id, span);

    EXECUTE format($create$
CREATE OR REPLACE FUNCTION public.snowflake_time(id bigint) RETURNS timestamptz
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $fn$
BEGIN%1$s
    IF id OPERATOR(pg_catalog.<) %5$s::bigint THEN
        RETURN NULL;
    END IF;
    -- without time zone, because otherwise the sum is not immutable
    RETURN pg_catalog.timezone('UTC'::pg_catalog.text, %2$L::timestamp without time zone OPERATOR(pg_catalog.+)
        (%3$L::interval OPERATOR(pg_catalog.*) (id OPERATOR(pg_catalog.>>) %4$s)::double precision));
END $fn$
$create$, refuse_id, n.epoch AT TIME ZONE 'UTC', unit_us || ' microseconds', id_bits, first_id);
    COMMENT ON FUNCTION public.snowflake_time(bigint) IS
        'The instant at which the tick of an ID begins. NULL for an old key: a number below the first day of ticks, '
        'where no ID is. Error 22003 for a number that is no ID of the layout.';

    EXECUTE format($create$
CREATE OR REPLACE FUNCTION public.snowflake_worker(id bigint) RETURNS integer
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $fn$
BEGIN%1$s
    RETURN ((id OPERATOR(pg_catalog.>>) %2$s) OPERATOR(pg_catalog.&) %3$s::bigint)::integer;
END $fn$
$create$, refuse_id, n.sequence_bits, (1 << (n.datacenter_bits + n.worker_bits)) - 1);
    COMMENT ON FUNCTION public.snowflake_worker(bigint) IS
        'The worker that made an ID: the number in its datacenter and worker bits together, as in pgflurry.worker. '
        'Error 22003 for a number that is no ID of the layout.';

    EXECUTE format($create$
CREATE OR REPLACE FUNCTION public.snowflake_sequence(id bigint) RETURNS integer
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $fn$
BEGIN%1$s
    RETURN (id OPERATOR(pg_catalog.&) %2$s::bigint)::integer;
END $fn$
$create$, refuse_id, (1 << n.sequence_bits) - 1);
    COMMENT ON FUNCTION public.snowflake_sequence(bigint) IS
        'The number of an ID within its tick and worker. Error 22003 for a number that is no ID of the layout.';

    EXECUTE format($create$
CREATE OR REPLACE FUNCTION public.snowflake_parts(id bigint, OUT "time" timestamptz, OUT datacenter integer,
    OUT worker integer, OUT sequence integer)
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $fn$
BEGIN
    "time" := public.snowflake_time(id);
    worker := public.snowflake_worker(id);
    datacenter := worker OPERATOR(pg_catalog.>>) %1$s;
    sequence := public.snowflake_sequence(id);
END $fn$
$create$, n.worker_bits);
    COMMENT ON FUNCTION public.snowflake_parts(bigint) IS
        'All fields of an ID: time as snowflake_time(), worker as snowflake_worker(), '
        'its upper bits as datacenter (0 if the layout has none), sequence as snowflake_sequence(). '
        'Error 22003 for a number that is no ID of the layout.';

    EXECUTE format($create$
CREATE OR REPLACE FUNCTION public.snowflake_floor(at timestamptz) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $fn$
BEGIN
    IF at OPERATOR(pg_catalog.<=) %1$L::timestamp with time zone THEN
        RETURN %8$s::bigint;
    END IF;
    IF at OPERATOR(pg_catalog.>) %2$L::timestamp with time zone THEN
        RAISE EXCEPTION 'no ID of layout %3$s is at or after %%', at
            USING ERRCODE = '22008', HINT = 'The last tick of the layout begins at %2$s.';
    END IF;
    -- whole microseconds, rounded up to the next tick
    RETURN (((EXTRACT(epoch FROM at) OPERATOR(pg_catalog.-) %4$s::numeric)
        OPERATOR(pg_catalog.*) 1000000::numeric)::bigint
        OPERATOR(pg_catalog.+) %5$s::bigint) OPERATOR(pg_catalog./) %6$s::bigint OPERATOR(pg_catalog.<<) %7$s;
END $fn$
$create$, (n.epoch AT TIME ZONE 'UTC' + n.unit * first_tick) || '+00',
        (n.epoch AT TIME ZONE 'UTC' + n.unit * last_tick) || '+00', span,
        extract(epoch FROM n.epoch), unit_us - 1, unit_us, id_bits, first_id);
    COMMENT ON FUNCTION public.snowflake_floor(timestamptz) IS
        'The smallest ID at or after an instant, of any worker: '
        'id >= snowflake_floor(t) means snowflake_time(id) >= t. '
        'Between two ticks it is the first ID of the later one; in the first day of ticks and before it '
        'the first ID that could be, which is above every old key. Error 22008 after the last tick.';

    EXECUTE format($create$
CREATE OR REPLACE FUNCTION public.snowflake_ceil(at timestamptz) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $fn$
BEGIN
    IF at OPERATOR(pg_catalog.>=) %2$L::timestamp with time zone THEN
        RETURN %8$s::bigint;
    END IF;
    IF at OPERATOR(pg_catalog.<) %1$L::timestamp with time zone THEN
        RAISE EXCEPTION 'no ID of layout %3$s is at or before %%', at
            USING ERRCODE = '22008', HINT = 'The epoch of the layout is %1$s.';
    END IF;
    IF at OPERATOR(pg_catalog.<) %9$L::timestamp with time zone THEN
        RETURN %10$s::bigint;
    END IF;
    -- whole microseconds, rounded down to the tick, with all bits below it set
    RETURN ((((EXTRACT(epoch FROM at) OPERATOR(pg_catalog.-) %4$s::numeric)
        OPERATOR(pg_catalog.*) 1000000::numeric)::bigint
        OPERATOR(pg_catalog./) %6$s::bigint) OPERATOR(pg_catalog.<<) %7$s) OPERATOR(pg_catalog.|) %5$s::bigint;
END $fn$
$create$, n.epoch AT TIME ZONE 'UTC' || '+00', (n.epoch AT TIME ZONE 'UTC' + n.unit * last_tick) || '+00', span,
        extract(epoch FROM n.epoch), (1::bigint << id_bits) - 1, unit_us, id_bits, last_id,
        (n.epoch AT TIME ZONE 'UTC' + n.unit * first_tick) || '+00', first_id - 1);
    COMMENT ON FUNCTION public.snowflake_ceil(timestamptz) IS
        'The largest ID at or before an instant, of any worker: '
        'id <= snowflake_ceil(t) means snowflake_time(id) <= t, or that id is an old key, which has no time. '
        'Between two ticks it is the last ID of the earlier one; the last of all IDs after the end, '
        'in the first day of ticks the greatest old key. '
        'Error 22008 before the epoch.';
END $install$;

COMMENT ON PROCEDURE pgflurry.install_decode() IS
'Writes the layout of the namespace row into the text of snowflake_time(), _worker(), _sequence(), _parts(), '
'_floor() and _ceil(). May be run again at any time.';
