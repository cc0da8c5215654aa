-- How long a layout lasts, and how far its IDs are ahead of the clock.

CREATE OR REPLACE FUNCTION pgflurry.layout_years(timestamp_bits integer, unit interval DEFAULT '1 millisecond')
RETURNS numeric
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp SET intervalstyle = postgres AS $fn$
BEGIN
    IF timestamp_bits NOT BETWEEN 1 AND 62 THEN
        RAISE EXCEPTION 'layout_years: % timestamp bits are not 1 to 62', timestamp_bits
            USING ERRCODE = '22023', HINT = 'pgflurry takes layouts of 28 to 43.';
    END IF;
    IF unit < interval '1 millisecond' OR unit > interval '1 second' THEN
        RAISE EXCEPTION 'layout_years: the unit is %, not 1 ms to 1 s', unit
            USING ERRCODE = '22023', HINT = 'Write it as an interval, such as ''10 milliseconds''.';
    END IF;
    RETURN round((1::bigint << timestamp_bits) * extract(epoch FROM unit) / (365.2425 * 86400), 1);
END $fn$;
COMMENT ON FUNCTION pgflurry.layout_years(integer, interval) IS
'How many years IDs with so many timestamp bits last from their epoch, for ticks of unit: '
'41 bits of milliseconds are 69.7 years. NULL for NULL. Errors: 22023 bits not 1 to 62, unit not 1 ms to 1 s.';

CREATE OR REPLACE FUNCTION pgflurry.snowflake_lifetime(
    OUT begins timestamptz, OUT ends timestamptz, OUT years numeric, OUT years_left numeric, OUT warning text)
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET datestyle = ISO, YMD AS $fn$
DECLARE
    n pgflurry.namespace;
BEGIN
    SELECT * INTO STRICT n FROM pgflurry.namespace;
    begins := n.epoch;
    -- in whole days and seconds, because 2^43 seconds in microseconds are too many for one multiplication
    ends := n.epoch
        + floor(extract(epoch FROM n.unit) * (1::bigint << n.timestamp_bits) / 86400)::integer * interval '24 hours';
    ends := ends
        + mod(extract(epoch FROM n.unit) * (1::bigint << n.timestamp_bits), 86400)::double precision
            * interval '1 second';
    years := pgflurry.layout_years(n.timestamp_bits, n.unit);
    years_left := round(extract(epoch FROM ends - clock_timestamp()) / (365.2425 * 86400), 1);
    IF years_left < 10 THEN
        warning := format('The layout ends on %s. Plan a new namespace.', ends);
    END IF;
END $fn$;
COMMENT ON FUNCTION pgflurry.snowflake_lifetime() IS
'From when to when the layout of this database''s namespace gives IDs, '
'how many years that is and how many are left by the server''s clock, and a warning when those are fewer than 10.';

CREATE OR REPLACE FUNCTION pgflurry.snowflake_clock(OUT ahead_ms bigint, OUT waits bigint, OUT refusals bigint)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $fn$
DECLARE
    n    pgflurry.namespace;
    tick bigint;
BEGIN
    SELECT * INTO STRICT n FROM pgflurry.namespace;
    SELECT last_value >> (63 - n.timestamp_bits) INTO STRICT tick FROM pgflurry.lane;
    IF tick > 0 THEN  -- otherwise there was no draw since the server's last crash
        ahead_ms := (tick - pgflurry.ticks(clock_timestamp())) * extract(epoch FROM n.unit) * 1000;
    END IF;
    SELECT CASE WHEN is_called THEN last_value ELSE 0 END INTO STRICT waits FROM pgflurry.clock_waits;
    SELECT CASE WHEN is_called THEN last_value ELSE 0 END INTO STRICT refusals FROM pgflurry.clock_refusals;
END $fn$;
COMMENT ON FUNCTION pgflurry.snowflake_clock() IS
'Compares this database''s next_snowflake() with the server''s clock: '
'how many milliseconds the tick of its last ID is ahead (negative: behind, as in a quiet database; '
'NULL: no ID since a crash), how many calls have waited because it was a second ahead (the clock was set back, '
'or callers want more IDs than the layout holds), and how many have failed with SNF01. '
'It counts since the migration.';
