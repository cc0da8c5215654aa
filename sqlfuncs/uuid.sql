-- UUIDs of versions 4 and 7 (RFC 9562), by the names of PostgreSQL 18. There an unqualified uuidv7() is the server's
-- own, because pg_catalog stands first, and pgflurry.uuidv7() calls it. Each call checks the version of the server, so
-- an upgraded database needs no change. Before version 18:
--
--      48 bits   milliseconds since 1970
--       4        version, 7
--      12        fraction of the millisecond, in 1/4096 (method 3 of RFC 9562, section 6.2)
--       2        variant, binary 10
--      62        random
--
-- So values of one server order by the microsecond of its clock. Two of the same microsecond have no order, nor have
-- values before and after a clock was set back. PostgreSQL 18 also orders the values of one session.

CREATE OR REPLACE FUNCTION pgflurry.uuidv4() RETURNS uuid
LANGUAGE sql VOLATILE PARALLEL SAFE
RETURN gen_random_uuid();

COMMENT ON FUNCTION pgflurry.uuidv4() IS
'A random UUID, version 4: 122 random bits. No order. The same as gen_random_uuid().';

CREATE OR REPLACE FUNCTION pgflurry.uuidv7() RETURNS uuid
LANGUAGE plpgsql VOLATILE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $fn$
DECLARE
    micros bigint;  -- since 1970
    bits   bytea;
BEGIN
    IF current_setting('server_version_num')::integer >= 180000 THEN
        RETURN uuidv7();
    END IF;
    micros := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
    bits := uuid_send(gen_random_uuid());  -- its variant bits are right already
    -- 6 bytes of milliseconds, then version and fraction in 2
    bits := overlay(bits PLACING substring(int8send(micros / 1000) FROM 3) FROM 1 FOR 6);
    bits := overlay(bits PLACING substring(int8send(28672 | ((micros % 1000) * 4096 / 1000)) FROM 7) FROM 7 FOR 2);
    RETURN encode(bits, 'hex')::uuid;
END $fn$;

COMMENT ON FUNCTION pgflurry.uuidv7() IS
'A UUID that begins with the time, version 7. '
'On PostgreSQL 18 and newer the server''s own; before, values order by the microsecond of the server''s clock, '
'and those of one microsecond have no order.';

CREATE OR REPLACE FUNCTION pgflurry.uuidv7_time(id uuid) RETURNS timestamptz
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET timezone = UTC AS $fn$
DECLARE
    bits   bytea := uuid_send(id);
    millis bigint := ('x' || encode(substring(bits FROM 1 FOR 6), 'hex'))::bit(48)::bigint;
BEGIN
    IF get_byte(bits, 6) >> 4 <> 7 OR get_byte(bits, 8) >> 6 <> 2 THEN
        RAISE EXCEPTION 'uuidv7_time: % is no UUID of version 7', id
            USING ERRCODE = '22023', HINT = 'Only those hold a time in their first 48 bits.';
    END IF;
    -- in two steps, because the product with an interval is computed in floating point
    RETURN timestamptz '1970-01-01 00:00:00+00'
        + millis / 1000 * interval '1 second' + millis % 1000 * interval '1 millisecond';
END $fn$;

COMMENT ON FUNCTION pgflurry.uuidv7_time(uuid) IS
'The time of a UUID of version 7: its first 48 bits, whole milliseconds. NULL for NULL. '
'Errors: 22023 for a UUID of another version.';
