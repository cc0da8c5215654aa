-- If this schema is first on the search_path, a statement fails unless it qualifies the names that it uses.
CREATE SCHEMA hostile;
CREATE FUNCTION hostile.refuse_int8(bigint, bigint) RETURNS bigint LANGUAGE plpgsql
    AS $$ BEGIN RAISE 'hostile'; END $$;
CREATE FUNCTION hostile.refuse_mixed(bigint, integer) RETURNS bigint LANGUAGE plpgsql
    AS $$ BEGIN RAISE 'hostile'; END $$;
CREATE FUNCTION hostile.refuse_float(float8, float8) RETURNS float8 LANGUAGE plpgsql
    AS $$ BEGIN RAISE 'hostile'; END $$;
CREATE FUNCTION hostile.refuse_float_bool(float8, float8) RETURNS boolean LANGUAGE plpgsql
    AS $$ BEGIN RAISE 'hostile'; END $$;
CREATE FUNCTION hostile.refuse_bool(bigint, bigint) RETURNS boolean LANGUAGE plpgsql
    AS $$ BEGIN RAISE 'hostile'; END $$;
CREATE FUNCTION hostile.refuse_time(timestamptz, timestamptz) RETURNS boolean LANGUAGE plpgsql
    AS $$ BEGIN RAISE 'hostile'; END $$;
CREATE FUNCTION hostile.refuse_oid(oid, oid) RETURNS boolean LANGUAGE plpgsql
    AS $$ BEGIN RAISE 'hostile'; END $$;
CREATE FUNCTION hostile.refuse_text(text, text) RETURNS boolean LANGUAGE plpgsql
    AS $$ BEGIN RAISE 'hostile'; END $$;
CREATE FUNCTION hostile.refuse_numeric(numeric, numeric) RETURNS numeric LANGUAGE plpgsql
    AS $$ BEGIN RAISE 'hostile'; END $$;
CREATE OPERATOR hostile.& (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = hostile.refuse_int8);
CREATE OPERATOR hostile.| (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = hostile.refuse_int8);
CREATE OPERATOR hostile.# (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = hostile.refuse_int8);
CREATE OPERATOR hostile.- (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = hostile.refuse_int8);
CREATE OPERATOR hostile.* (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = hostile.refuse_int8);
CREATE OPERATOR hostile.+ (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = hostile.refuse_int8);
CREATE OPERATOR hostile./ (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = hostile.refuse_int8);
CREATE OPERATOR hostile.<< (LEFTARG = bigint, RIGHTARG = integer, FUNCTION = hostile.refuse_mixed);
CREATE OPERATOR hostile.>> (LEFTARG = bigint, RIGHTARG = integer, FUNCTION = hostile.refuse_mixed);
CREATE OPERATOR hostile.- (LEFTARG = float8, RIGHTARG = float8, FUNCTION = hostile.refuse_float);
CREATE OPERATOR hostile.* (LEFTARG = float8, RIGHTARG = float8, FUNCTION = hostile.refuse_float);
CREATE OPERATOR hostile./ (LEFTARG = float8, RIGHTARG = float8, FUNCTION = hostile.refuse_float);
CREATE OPERATOR hostile.<= (LEFTARG = float8, RIGHTARG = float8, FUNCTION = hostile.refuse_float_bool);
CREATE OPERATOR hostile.+ (LEFTARG = float8, RIGHTARG = float8, FUNCTION = hostile.refuse_float);
CREATE OPERATOR hostile.= (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = hostile.refuse_bool);
CREATE OPERATOR hostile.<= (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = hostile.refuse_bool);
CREATE OPERATOR hostile.<> (LEFTARG = oid, RIGHTARG = oid, FUNCTION = hostile.refuse_oid);
CREATE OPERATOR hostile.<> (LEFTARG = pg_catalog.text, RIGHTARG = pg_catalog.text, FUNCTION = hostile.refuse_text);
CREATE OPERATOR hostile.< (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = hostile.refuse_bool);
CREATE OPERATOR hostile.> (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = hostile.refuse_bool);
CREATE OPERATOR hostile.>= (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = hostile.refuse_bool);
CREATE OPERATOR hostile.<> (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = hostile.refuse_bool);
CREATE OPERATOR hostile.<= (LEFTARG = timestamptz, RIGHTARG = timestamptz, FUNCTION = hostile.refuse_time);
CREATE OPERATOR hostile.> (LEFTARG = timestamptz, RIGHTARG = timestamptz, FUNCTION = hostile.refuse_time);
CREATE OPERATOR hostile.< (LEFTARG = timestamptz, RIGHTARG = timestamptz, FUNCTION = hostile.refuse_time);
CREATE OPERATOR hostile.>= (LEFTARG = timestamptz, RIGHTARG = timestamptz, FUNCTION = hostile.refuse_time);
CREATE OPERATOR hostile.- (LEFTARG = numeric, RIGHTARG = numeric, FUNCTION = hostile.refuse_numeric);
CREATE OPERATOR hostile.* (LEFTARG = numeric, RIGHTARG = numeric, FUNCTION = hostile.refuse_numeric);
CREATE OPERATOR hostile./ (LEFTARG = numeric, RIGHTARG = numeric, FUNCTION = hostile.refuse_numeric);
CREATE FUNCTION hostile.clock_timestamp() RETURNS timestamptz LANGUAGE plpgsql
    AS $$ BEGIN RAISE 'hostile'; END $$;
CREATE FUNCTION hostile.nextval(regclass) RETURNS bigint LANGUAGE plpgsql
    AS $$ BEGIN RAISE 'hostile'; END $$;
CREATE FUNCTION hostile.date_part(text, timestamptz) RETURNS float8 LANGUAGE plpgsql
    AS $$ BEGIN RAISE 'hostile'; END $$;
CREATE FUNCTION hostile.timezone(text, timestamp) RETURNS timestamptz LANGUAGE plpgsql
    AS $$ BEGIN RAISE 'hostile'; END $$;
CREATE FUNCTION hostile.setval(regclass, bigint) RETURNS bigint LANGUAGE plpgsql
    AS $$ BEGIN RAISE 'hostile'; END $$;
CREATE FUNCTION hostile.to_timestamp(float8) RETURNS timestamptz LANGUAGE plpgsql
    AS $$ BEGIN RAISE 'hostile'; END $$;
CREATE FUNCTION hostile.hashint8extended(bigint, bigint) RETURNS bigint LANGUAGE plpgsql
    AS $$ BEGIN RAISE 'hostile'; END $$;
CREATE FUNCTION hostile.split_part(text, text, integer) RETURNS text LANGUAGE plpgsql
    AS $$ BEGIN RAISE 'hostile'; END $$;
CREATE FUNCTION hostile.pg_relation_filepath(regclass) RETURNS text LANGUAGE plpgsql
    AS $$ BEGIN RAISE 'hostile'; END $$;
CREATE FUNCTION hostile.refuse_equal(text, text) RETURNS boolean LANGUAGE plpgsql
    AS $$ BEGIN RAISE 'hostile'; END $$;
CREATE OPERATOR hostile.= (LEFTARG = pg_catalog.text, RIGHTARG = pg_catalog.text, FUNCTION = hostile.refuse_equal);
CREATE FUNCTION hostile.generate_series(bigint, bigint) RETURNS SETOF bigint LANGUAGE plpgsql
    AS $$ BEGIN RAISE 'hostile'; END $$;
CREATE FUNCTION hostile.length(text) RETURNS integer LANGUAGE plpgsql
    AS $$ BEGIN RAISE 'hostile'; END $$;
GRANT USAGE ON SCHEMA hostile TO PUBLIC;
CREATE DOMAIN hostile.oid AS pg_catalog.text;
CREATE DOMAIN hostile.int8 AS text;
CREATE DOMAIN hostile.regclass AS text;
CREATE DOMAIN hostile.timestamptz AS text;
CREATE DOMAIN hostile.text AS integer;
CREATE DOMAIN hostile.numeric AS text;
