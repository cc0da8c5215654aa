-- A bigserial or identity column that exists: its default becomes next_snowflake(), or its sequence again.
-- Both run with the rights of the caller, who must own the table, in one transaction with an
-- ACCESS EXCLUSIVE lock on it. Rows are read (the greatest value, which an index finds at once) and never rewritten.
--
-- The sequence of an identity column belongs to the identity and goes with it.
-- A plain one of the same name and state takes its place, with a comment from which
-- convert_to_sequence() knows what it was. pg_dump carries both.

CREATE OR REPLACE FUNCTION pgflurry.lock_column(caller text, tab regclass, col text, OUT number smallint,
    OUT highest bigint, OUT snowflake boolean, OUT drawn_from regclass, OUT identity text, OUT owned regclass)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp SET row_security = off SET quote_all_identifiers = off AS $fn$
DECLARE
    c record;
    a record;
    d record;
    narrow text;
BEGIN
    IF tab IS NULL OR col IS NULL THEN
        RAISE EXCEPTION '%: the % is null', caller, CASE WHEN tab IS NULL THEN 'table' ELSE 'column' END
            USING ERRCODE = '22023', HINT = 'Name a table and a column of it.';
    END IF;
    SELECT * INTO c FROM pg_class WHERE oid = tab;
    IF NOT FOUND OR c.relkind NOT IN ('r', 'p') THEN
        RAISE EXCEPTION '%: % is not a table', caller, tab
            USING ERRCODE = '42809', HINT = 'Defaults belong to tables: give the table behind it.';
    END IF;
    IF c.relispartition THEN
        RAISE EXCEPTION '%: % is a partition', caller, tab
            USING ERRCODE = '42809',
                  HINT = format('Give the whole table, %s.',
                      (SELECT inhparent::regclass FROM pg_inherits WHERE inhrelid = tab));
    END IF;
    IF NOT pg_has_role(c.relowner, 'USAGE') THEN
        RAISE EXCEPTION '%: you are not the owner of table %', caller, tab
            USING ERRCODE = '42501', HINT = format('Role %I is, or a member of it.', pg_get_userbyid(c.relowner));
    END IF;
    PERFORM pgflurry.check_isolation(caller);
    EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', tab);
    SELECT * INTO a FROM pg_attribute WHERE attrelid = tab AND attname = col AND attnum > 0 AND NOT attisdropped;
    IF NOT FOUND THEN
        RAISE EXCEPTION '%: table % has no column %', caller, tab, quote_ident(col)
            USING ERRCODE = '42703', HINT = 'Names of columns are case-sensitive here.';
    END IF;
    IF a.atttypid <> 'bigint'::regtype THEN
        RAISE EXCEPTION '%: column % of table % is %, and IDs need bigint',
            caller, quote_ident(col), tab, format_type(a.atttypid, a.atttypmod)
            USING ERRCODE = '42804',
                  HINT = format('ALTER TABLE %s ALTER COLUMN %I TYPE bigint; '
                      'rewrites the table, and the columns that refer to it need bigint as well.', tab, col);
    END IF;
    SELECT string_agg(format('%s.%I', f.conrelid::regclass, r.attname), ', ') INTO narrow
        FROM pg_constraint AS f, unnest(f.confkey, f.conkey) AS k (here, there), pg_attribute AS r
        WHERE f.contype = 'f' AND f.confrelid = tab
          AND k.here = a.attnum AND r.attrelid = f.conrelid AND r.attnum = k.there
          AND r.atttypid <> 'bigint'::regtype AND f.conparentid = 0;
    IF narrow IS NOT NULL THEN
        RAISE EXCEPTION '%: columns that refer to %.% are not bigint: %', caller, tab, quote_ident(col), narrow
            USING ERRCODE = '42804', HINT = 'Make them bigint first: an ID would not fit.';
    END IF;
    SELECT x.oid, pg_get_expr(x.adbin, x.adrelid) AS expression INTO d
        FROM pg_attrdef AS x WHERE x.adrelid = tab AND x.adnum = a.attnum;
    identity := a.attidentity;
    number := a.attnum;
    snowflake := coalesce(d.expression = 'public.next_snowflake()', false);
    IF d.expression ~ '^nextval[(]' THEN
        SELECT refobjid INTO drawn_from FROM pg_depend JOIN pg_class AS s ON s.oid = refobjid AND s.relkind = 'S'
            WHERE classid = 'pg_attrdef'::regclass AND objid = d.oid AND refclassid = 'pg_class'::regclass;
    END IF;
    SELECT s.oid INTO owned FROM pg_depend AS o JOIN pg_class AS s ON s.oid = o.objid AND s.relkind = 'S'
        WHERE o.classid = 'pg_class'::regclass AND o.refclassid = 'pg_class'::regclass AND o.refobjid = tab
          AND o.refobjsubid = a.attnum AND o.deptype IN ('a', 'i')
        ORDER BY s.oid <> coalesce(drawn_from, 0), s.oid LIMIT 1;
    IF NOT snowflake AND drawn_from IS NULL AND identity = '' THEN
        RAISE EXCEPTION '%: column % of table % %', caller, quote_ident(col), tab,
            CASE WHEN a.attgenerated <> '' THEN 'is generated'
                 WHEN d.expression IS NULL THEN 'has no default'
                 ELSE 'has the default ' || d.expression END
            USING ERRCODE = '55000',
                  HINT = 'This is for columns that draw from a sequence, from an identity, '
                      'or from next_snowflake(). Others take ALTER TABLE ... SET DEFAULT.';
    END IF;
    EXECUTE format('SELECT max(%I) FROM %s', col, tab) INTO highest;
END $fn$;
COMMENT ON FUNCTION pgflurry.lock_column(text, regclass, text) IS
'Inside of convert_to_snowflake() and convert_to_sequence(): '
'checks and locks the table, and tells what its column draws from and the greatest value in it.';

CREATE OR REPLACE FUNCTION pgflurry.convert_to_snowflake(tab regclass, col text DEFAULT 'id') RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $fn$
DECLARE
    now   record;
    first bigint;
    s     record;
    seq   text;
BEGIN
    SELECT * INTO now FROM pgflurry.lock_column('convert_to_snowflake', tab, col);
    IF now.snowflake THEN
        RETURN false;
    END IF;
    first := public.next_snowflake();
    IF now.highest >= first THEN
        RAISE EXCEPTION 'convert_to_snowflake: %.% holds %, and next_snowflake() is at %',
            tab, quote_ident(col), now.highest, first
            USING ERRCODE = '55000',
                  HINT = 'Nothing is changed. New IDs would meet values that are there. '
                      'A namespace with an earlier epoch gives larger ones.';
    END IF;
    IF now.identity <> '' THEN
        SELECT p.*, n.nspname, c.relname, pg_get_userbyid(t.relowner) AS owner INTO STRICT s
            FROM pg_sequence AS p
            JOIN pg_class AS c ON c.oid = p.seqrelid
            JOIN pg_namespace AS n ON n.oid = c.relnamespace, pg_class AS t
            WHERE p.seqrelid = now.owned AND t.oid = tab;
        seq := format('%I.%I', s.nspname, s.relname);
        EXECUTE format('SELECT last_value, is_called FROM %s', now.owned) INTO STRICT now.highest, now.snowflake;
        EXECUTE format('ALTER TABLE %s ALTER COLUMN %I DROP IDENTITY', tab, col);
        EXECUTE format('CREATE SEQUENCE %s AS %s INCREMENT BY %s MINVALUE %s MAXVALUE %s START WITH %s CACHE %s %s',
            seq, s.seqtypid::regtype, s.seqincrement, s.seqmin, s.seqmax, s.seqstart, s.seqcache,
            CASE WHEN s.seqcycle THEN 'CYCLE' ELSE 'NO CYCLE' END);
        PERFORM setval(seq::regclass, now.highest, now.snowflake);
        EXECUTE format('ALTER SEQUENCE %s OWNER TO %I', seq, s.owner);
        EXECUTE format('ALTER SEQUENCE %s OWNED BY %s.%I', seq, tab, col);
        EXECUTE format('COMMENT ON SEQUENCE %s IS %L', seq,
            format('pgflurry: GENERATED %s AS IDENTITY until convert_to_snowflake()',
                CASE now.identity WHEN 'a' THEN 'ALWAYS' ELSE 'BY DEFAULT' END));
    ELSIF now.owned IS DISTINCT FROM now.drawn_from THEN
        RAISE NOTICE 'sequence % does not belong to the column', now.drawn_from
            USING HINT = format('To switch back name it: pgflurry.convert_to_sequence(%L, %L, %L).',
                tab, col, now.drawn_from);
    END IF;
    EXECUTE format('ALTER TABLE %s ALTER COLUMN %I SET DEFAULT public.next_snowflake()', tab, col);
    RETURN true;
END $fn$;
COMMENT ON FUNCTION pgflurry.convert_to_snowflake(regclass, text) IS
'Makes next_snowflake() the default of a bigserial or identity column, and of that of all partitions, '
'above every value that is there; false if it is so already. '
'The caller owns the table; it is locked until the end of the transaction. '
'Errors: 55000 a value is not below next_snowflake() (both are told), or the default is something else; '
'42804 the column, or one that refers to it, is not bigint; 42809 no table, or a partition; 42703 no such column; '
'42501 not the owner; 22023 NULL; 25000 not READ COMMITTED; 25006 on a standby; those of next_snowflake().';

CREATE OR REPLACE FUNCTION pgflurry.convert_to_sequence(tab regclass, col text DEFAULT 'id', seq regclass DEFAULT NULL)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $fn$
DECLARE
    now      record;
    s        record;
    last     bigint;
    called   boolean;
    next     numeric;
    identity text;
BEGIN
    SELECT * INTO now FROM pgflurry.lock_column('convert_to_sequence', tab, col);
    IF NOT now.snowflake THEN
        RETURN false;
    END IF;
    seq := coalesce(seq, now.owned);
    IF NOT EXISTS (SELECT FROM pg_sequence WHERE seqrelid = seq) THEN
        RAISE EXCEPTION 'convert_to_sequence: column %.% has no sequence', tab, quote_ident(col)
            USING ERRCODE = '55000', HINT = 'Make one, and name it as the third argument.';
    END IF;
    -- With it goes a limit that was only that of the type.
    -- And nobody draws from here on, who could get a number that setval() below gives again.
    EXECUTE format('ALTER SEQUENCE %s AS bigint', seq);
    SELECT p.*, n.nspname, c.relname INTO STRICT s
        FROM pg_sequence AS p
        JOIN pg_class AS c ON c.oid = p.seqrelid
        JOIN pg_namespace AS n ON n.oid = c.relnamespace
        WHERE p.seqrelid = seq;
    EXECUTE format('SELECT last_value, is_called FROM %s', seq) INTO STRICT last, called;
    next := last::numeric + CASE WHEN called THEN s.seqincrement ELSE 0 END;
    IF next <= now.highest THEN  -- on within its series
        next := next + (div(now.highest - next, abs(s.seqincrement)) + 1) * abs(s.seqincrement);
    END IF;
    IF s.seqincrement < 0 OR next > s.seqmax THEN
        RAISE EXCEPTION 'convert_to_sequence: %.% holds %, and sequence % ends at %',
            tab, quote_ident(col), now.highest, seq,
            CASE WHEN s.seqincrement < 0 THEN s.seqmin ELSE s.seqmax END
            USING ERRCODE = '55000',
                  HINT = 'Nothing is changed. '
                      'Give the sequence room above that value: ALTER SEQUENCE ... INCREMENT BY 1 NO MAXVALUE.';
    END IF;
    identity := substring(obj_description(seq, 'pg_class')
        FROM '^pgflurry: GENERATED (ALWAYS|BY DEFAULT) AS IDENTITY until');
    IF identity IS NULL THEN
        PERFORM setval(seq, next::bigint, false);
        EXECUTE format('ALTER TABLE %s ALTER COLUMN %I SET DEFAULT nextval(%L::regclass)', tab, col, seq);
    ELSE
        EXECUTE format('ALTER TABLE %s ALTER COLUMN %I DROP DEFAULT', tab, col);
        EXECUTE format('DROP SEQUENCE %s', seq);
        EXECUTE format('ALTER TABLE %s ALTER COLUMN %I ADD GENERATED %s AS IDENTITY (SEQUENCE NAME %I.%I '
            'INCREMENT BY %s MINVALUE %s MAXVALUE %s START WITH %s RESTART WITH %s CACHE %s %s)',
            tab, col, identity, s.nspname, s.relname, s.seqincrement, s.seqmin, s.seqmax, s.seqstart, next, s.seqcache,
            CASE WHEN s.seqcycle THEN 'CYCLE' ELSE 'NO CYCLE' END);
    END IF;
    RETURN true;
END $fn$;
COMMENT ON FUNCTION pgflurry.convert_to_sequence(regclass, text, regclass) IS
'Switches back what convert_to_snowflake() did: the column draws from its sequence or identity again, '
'from a number above every value that is there; false if it draws from a sequence already. '
'seq names one that does not belong to the column, and that the caller owns. '
'Do not insert other IDs of the namespace into the table afterwards. '
'Errors: 55000 no sequence, or it ends below a value (both are told), or the default is something else; '
'the rest as for convert_to_snowflake().';
