-- The statements of convert_to_snowflake() and convert_to_sequence(). The conversion executes them, and
-- pgflurry.plan_conversion() shows them. Nothing here takes a lock or changes anything.
--
-- The sequence stays, but stops: MAXVALUE is its last value, so nextval() fails and names the sequence. Otherwise an
-- application that calls nextval() itself would continue with small keys. The sequence's comment keeps its former state
-- and shows it to people; pg_dump carries both. The sequence of an identity column belongs to the identity and goes
-- with it. A plain sequence of the same name and state replaces it. If other columns draw from a sequence, it is left
-- alone. So is one that is not the column's and was not named.

-- Earlier versions returned fewer columns.
DROP FUNCTION IF EXISTS pgflurry.key_column(text, regclass, text, regclass);

CREATE OR REPLACE FUNCTION pgflurry.key_column(caller text, tab regclass, col text, seq regclass,
    OUT number smallint, OUT type regtype, OUT identity text, OUT expression text, OUT snowflake boolean,
    OUT drawn_from regclass, OUT owned regclass, OUT target regclass, OUT narrow text, OUT shared text)
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $fn$
DECLARE
    c    record;
    a    record;
    draw oid;
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
    IF seq IS NOT NULL AND NOT EXISTS (SELECT FROM pg_sequence WHERE seqrelid = seq) THEN
        RAISE EXCEPTION '%: % is not a sequence', caller, seq
            USING ERRCODE = '42809', HINT = 'Name the sequence that the column''s keys come from, or none.';
    END IF;
    SELECT * INTO a FROM pg_attribute WHERE attrelid = tab AND attname = col AND attnum > 0 AND NOT attisdropped;
    IF NOT FOUND THEN
        RAISE EXCEPTION '%: table % has no column %', caller, tab, quote_ident(col)
            USING ERRCODE = '42703', HINT = 'Names of columns are case-sensitive here.';
    END IF;
    number := a.attnum;
    type := a.atttypid;
    identity := a.attidentity;
    SELECT x.oid, pg_get_expr(x.adbin, x.adrelid) INTO draw, expression
        FROM pg_attrdef AS x WHERE x.adrelid = tab AND x.adnum = a.attnum;
    snowflake := coalesce(expression = 'public.next_snowflake()', false);
    IF expression ~ '^nextval[(]' THEN
        SELECT refobjid INTO drawn_from FROM pg_depend JOIN pg_class AS s ON s.oid = refobjid AND s.relkind = 'S'
            WHERE classid = 'pg_attrdef'::regclass AND objid = draw AND refclassid = 'pg_class'::regclass;
    END IF;
    SELECT s.oid INTO owned FROM pg_depend AS o JOIN pg_class AS s ON s.oid = o.objid AND s.relkind = 'S'
        WHERE o.classid = 'pg_class'::regclass AND o.refclassid = 'pg_class'::regclass AND o.refobjid = tab
          AND o.refobjsubid = a.attnum AND o.deptype IN ('a', 'i')
        ORDER BY s.oid <> coalesce(drawn_from, 0), s.oid LIMIT 1;
    target := coalesce(seq, CASE WHEN drawn_from IS NULL OR drawn_from = owned THEN owned END);
    IF type IN ('bigint'::regtype, 'integer'::regtype, 'smallint'::regtype) AND NOT snowflake
       AND drawn_from IS NULL AND identity = '' AND NOT (expression IS NULL AND a.attgenerated = '' AND seq IS NOT NULL)
    THEN
        RAISE EXCEPTION '%: column % of table % %', caller, quote_ident(col), tab,
            CASE WHEN a.attgenerated <> '' THEN 'is generated'
                 WHEN expression IS NULL THEN 'has no default'
                 ELSE 'has the default ' || expression END
            USING ERRCODE = '55000',
                  HINT = 'This is for columns that draw from a sequence, from an identity, '
                      'or from next_snowflake(). Others take ALTER TABLE ... SET DEFAULT. '
                      'Where the application draws from a sequence itself, name that: seq => ''...''.';
    END IF;
    IF seq <> (CASE WHEN identity = '' THEN drawn_from ELSE owned END) THEN
        RAISE EXCEPTION '%: column % of table % draws from sequence %, and not from %', caller, quote_ident(col), tab,
            CASE WHEN identity = '' THEN drawn_from ELSE owned END, seq
            USING ERRCODE = '55000', HINT = 'Name that one, or none.';
    END IF;
    SELECT string_agg(format('%s.%I', f.conrelid::regclass, r.attname), ', ') INTO narrow
        FROM pg_constraint AS f, unnest(f.confkey, f.conkey) AS k (here, there), pg_attribute AS r
        WHERE f.contype = 'f' AND f.confrelid = tab
          AND k.here = a.attnum AND r.attrelid = f.conrelid AND r.attnum = k.there
          AND r.atttypid <> 'bigint'::regtype AND f.conparentid = 0;
    -- ALTER TABLE reaches partitions and children, so their defaults are this column's.
    WITH RECURSIVE family (member) AS (
        SELECT tab::oid UNION SELECT i.inhrelid FROM pg_inherits AS i JOIN family ON i.inhparent = family.member)
    SELECT string_agg(DISTINCT format('%s.%I', x.adrelid::regclass, r.attname), ', ') INTO shared
        FROM pg_depend AS o
        JOIN pg_attrdef AS x ON o.classid = 'pg_attrdef'::regclass AND x.oid = o.objid
        JOIN pg_attribute AS r ON r.attrelid = x.adrelid AND r.attnum = x.adnum
        WHERE o.refclassid = 'pg_class'::regclass AND o.refobjid = coalesce(seq, drawn_from, owned)
          AND NOT (x.adrelid IN (SELECT member FROM family) AND r.attname = col);
END $fn$;
COMMENT ON FUNCTION pgflurry.key_column(text, regclass, text, regclass) IS
'Part of the conversion functions: checks a column, without a lock, and returns its type, its default, '
'the sequence that it draws from, the one that it owns, and the one that a conversion changes (target: '
'the one that is named, or else its own), columns that refer to it and are not bigint (narrow), '
'and other columns whose default draws from the sequence (shared).';

CREATE OR REPLACE FUNCTION pgflurry.sequence_state(seq regclass, OUT type regtype, OUT increment bigint,
    OUT lowest bigint, OUT highest bigint, OUT start bigint, OUT cache bigint, OUT cycle boolean,
    OUT last bigint, OUT called boolean, OUT origin text, OUT stopped boolean, OUT remark text)
LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $fn$
DECLARE
    said    text := obj_description(seq, 'pg_class');
    was     text[];
    limited boolean;  -- by the limit that stopped the sequence
BEGIN
    SELECT seqtypid, seqincrement, seqmin, seqmax, seqstart, seqcache, seqcycle
        INTO STRICT type, increment, lowest, highest, start, cache, cycle
        FROM pg_sequence WHERE seqrelid = seq;
    EXECUTE format('SELECT last_value, is_called FROM %s', seq) INTO STRICT last, called;
    remark := said;
    origin := substring(said FROM '^pgflurry: (GENERATED ALWAYS AS IDENTITY|GENERATED BY DEFAULT AS IDENTITY) until');
    IF origin IS NOT NULL THEN  -- in the form of the first version
        remark := NULL;
    END IF;
    was := regexp_match(said, E'^pgflurry: [^\n]* Was: ([^,.\n]*)((, (last|next) (-*[0-9]+), M..VALUE (-*[0-9]+), '
        '(NO CYCLE|CYCLE))*)[.](\n(.*))*$');
    stopped := false;
    IF was IS NOT NULL THEN
        origin := was[1];
        remark := was[9];
        -- If it was moved since (TRUNCATE ... RESTART IDENTITY), its present position counts. If it was given another
        -- limit, that limit counts.
        stopped := was[2] <> '' AND called AND last = CASE WHEN increment > 0 THEN highest ELSE lowest END;
        limited := stopped OR was[2] <> '' AND CASE WHEN increment > 0
            THEN highest = greatest(was[5]::bigint, start, lowest + 1)
            ELSE lowest = least(was[5]::bigint, start, highest - 1) END;
        IF stopped THEN
            last := was[5];
            called := was[4] = 'last';
        END IF;
        IF limited THEN
            IF increment > 0 THEN
                highest := was[6];
            ELSE
                lowest := was[6];
            END IF;
            cycle := was[7] = 'CYCLE';
        END IF;
    END IF;
END $fn$;
COMMENT ON FUNCTION pgflurry.sequence_state(regclass) IS
'Part of the conversion functions: the properties of a sequence, or those that it had before it was stopped; '
'whether it is stopped, what the column was that drew from it (origin), '
'and the comment that it had from elsewhere (remark).';

CREATE OR REPLACE FUNCTION pgflurry.steps_to_snowflake(tab regclass, col text, old_sequence text, seq regclass)
RETURNS SETOF text
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $fn$
DECLARE
    c       record;
    s       record;
    name    text;
    origin  text;
    stop    boolean;
    bound   bigint;  -- its last value
    said    text;
    comment text;
BEGIN
    SELECT * INTO c FROM pgflurry.key_column('convert_to_snowflake', tab, col, seq);
    IF c.target IS NOT NULL THEN
        SELECT * INTO s FROM pgflurry.sequence_state(c.target);
        name := c.target::text;
        origin := CASE WHEN c.identity = 'a' THEN 'GENERATED ALWAYS AS IDENTITY'
            WHEN c.identity = 'd' THEN 'GENERATED BY DEFAULT AS IDENTITY'
            WHEN c.snowflake THEN coalesce(s.origin, 'DEFAULT nextval')
            WHEN c.expression IS NULL THEN 'no default'
            ELSE 'DEFAULT nextval' END;
        stop := old_sequence = 'stop' AND c.shared IS NULL;
        -- MAXVALUE must be above MINVALUE, and not below START.
        bound := CASE WHEN s.increment > 0 THEN greatest(s.last, s.start, s.lowest + 1)
            ELSE least(s.last, s.start, s.highest - 1) END;
        IF c.identity <> '' THEN
            RETURN NEXT format('ALTER TABLE %s ALTER COLUMN %I DROP IDENTITY', tab, col);
            RETURN NEXT format('CREATE SEQUENCE %s AS %s INCREMENT BY %s MINVALUE %s MAXVALUE %s START WITH %s '
                'CACHE %s %s', name, s.type, s.increment,
                CASE WHEN stop AND s.increment < 0 THEN bound ELSE s.lowest END,
                CASE WHEN stop AND s.increment > 0 THEN bound ELSE s.highest END, s.start, s.cache,
                CASE WHEN s.cycle AND NOT stop THEN 'CYCLE' ELSE 'NO CYCLE' END);
            RETURN NEXT format('SELECT setval(%L, %s, %L)', name,
                CASE WHEN stop THEN bound ELSE s.last END, stop OR s.called);
            RETURN NEXT format('ALTER SEQUENCE %s OWNER TO %I', name,
                (SELECT pg_get_userbyid(relowner) FROM pg_class WHERE oid = tab));
            RETURN NEXT format('ALTER SEQUENCE %s OWNED BY %s.%I', name, tab, col);
        ELSIF stop AND NOT s.stopped THEN
            -- ALTER comes first, because then a rollback also undoes setval().
            RETURN NEXT format('ALTER SEQUENCE %s %s %s NO CYCLE', name,
                CASE WHEN s.increment > 0 THEN 'MAXVALUE' ELSE 'MINVALUE' END, bound);
            RETURN NEXT format('SELECT setval(%L, %s, true)', name, bound);
        ELSIF NOT stop AND EXISTS (SELECT FROM pg_sequence WHERE seqrelid = c.target
                AND (s.stopped OR (seqmin, seqmax, seqcycle) <> (s.lowest, s.highest, s.cycle))) THEN
            RETURN NEXT format('ALTER SEQUENCE %s MINVALUE %s MAXVALUE %s %s', name, s.lowest, s.highest,
                CASE WHEN s.cycle THEN 'CYCLE' ELSE 'NO CYCLE' END);
            IF s.stopped THEN  -- otherwise it may have advanced since it was read
                RETURN NEXT format('SELECT setval(%L, %s, %L)', name, s.last, s.called);
            END IF;
        END IF;
        said := CASE WHEN c.identity = '' THEN obj_description(c.target, 'pg_class') END;
        comment := CASE
            WHEN stop THEN format('pgflurry: convert_to_snowflake() has stopped this sequence, so nextval() fails. '
                'Draw next_snowflake(), or go back with convert_to_sequence(). Was: %s, %s %s, %s %s, %s.',
                origin, CASE WHEN s.called THEN 'last' ELSE 'next' END, s.last,
                CASE WHEN s.increment > 0 THEN 'MAXVALUE' ELSE 'MINVALUE' END,
                CASE WHEN s.increment > 0 THEN s.highest ELSE s.lowest END,
                CASE WHEN s.cycle THEN 'CYCLE' ELSE 'NO CYCLE' END) || coalesce(E'\n' || s.remark, '')
            WHEN origin <> 'DEFAULT nextval' THEN format(
                'pgflurry: convert_to_snowflake() has left this sequence as it was. Was: %s.', origin)
                || coalesce(E'\n' || s.remark, '')
            ELSE s.remark END;
        IF comment IS DISTINCT FROM said THEN
            RETURN NEXT format('COMMENT ON SEQUENCE %s IS %L', name, comment);
        END IF;
    END IF;
    IF NOT c.snowflake THEN
        RETURN NEXT format('ALTER TABLE %s ALTER COLUMN %I SET DEFAULT public.next_snowflake()', tab, col);
    END IF;
END $fn$;
COMMENT ON FUNCTION pgflurry.steps_to_snowflake(regclass, text, text, regclass) IS
'The statements that convert_to_snowflake() would execute now, in their order; none if there is nothing to do.';

CREATE OR REPLACE FUNCTION pgflurry.steps_to_sequence(tab regclass, col text, seq regclass, greatest_key bigint)
RETURNS SETOF text
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $fn$
DECLARE
    c        record;
    s        record;
    limit_is bigint;
    next     numeric;
BEGIN
    SELECT * INTO c FROM pgflurry.key_column('convert_to_sequence', tab, col, seq);
    IF NOT c.snowflake THEN
        RETURN;
    END IF;
    seq := coalesce(seq, c.owned);
    IF seq IS NULL THEN
        RAISE EXCEPTION 'convert_to_sequence: column %.% has no sequence', tab, quote_ident(col)
            USING ERRCODE = '55000', HINT = 'Make one, and name it as the third argument.';
    END IF;
    SELECT * INTO s FROM pgflurry.sequence_state(seq);
    -- A limit goes if it was only that of a narrow type.
    limit_is := CASE WHEN s.highest = CASE s.type WHEN 'smallint'::regtype THEN 32767
        WHEN 'integer'::regtype THEN 2147483647 END THEN 9223372036854775807 ELSE s.highest END;
    next := s.last::numeric + CASE WHEN s.called THEN s.increment ELSE 0 END;
    -- The sequence continues within its series. If the series has steps, a number may stand for a block that ends with
    -- it (hi/lo), so the whole block must be above the keys.
    IF next <= greatest_key THEN
        next := next + (div(greatest_key - next, abs(s.increment)) + CASE WHEN s.increment > 1 THEN 2 ELSE 1 END)
            * abs(s.increment);
    END IF;
    IF s.increment < 0 OR next > limit_is THEN
        RAISE EXCEPTION 'convert_to_sequence: %.% holds %, and sequence % ends at %',
            tab, quote_ident(col), greatest_key, seq, CASE WHEN s.increment < 0 THEN s.lowest ELSE limit_is END
            USING ERRCODE = '55000',
                  HINT = 'Nothing is changed. '
                      'Give the sequence room above that value: ALTER SEQUENCE ... INCREMENT BY 1 NO MAXVALUE.';
    END IF;
    IF s.origin LIKE 'GENERATED%' THEN
        RETURN NEXT format('ALTER TABLE %s ALTER COLUMN %I DROP DEFAULT', tab, col);
        RETURN NEXT format('DROP SEQUENCE %s', seq);
        RETURN NEXT format('ALTER TABLE %s ALTER COLUMN %I ADD %s (SEQUENCE NAME %s '
            'INCREMENT BY %s MINVALUE %s MAXVALUE %s START WITH %s RESTART WITH %s CACHE %s %s)',
            tab, col, s.origin, seq, s.increment, s.lowest, limit_is, s.start, next, s.cache,
            CASE WHEN s.cycle THEN 'CYCLE' ELSE 'NO CYCLE' END);
        IF s.remark IS NOT NULL THEN
            RETURN NEXT format('COMMENT ON SEQUENCE %s IS %L', seq, s.remark);
        END IF;
        RETURN;
    END IF;
    RETURN NEXT format('ALTER SEQUENCE %s AS bigint MINVALUE %s MAXVALUE %s %s', seq, s.lowest, limit_is,
        CASE WHEN s.cycle THEN 'CYCLE' ELSE 'NO CYCLE' END);
    RETURN NEXT format('SELECT setval(%L, %s, false)', seq, next);
    IF s.origin IS NOT NULL THEN
        RETURN NEXT format('COMMENT ON SEQUENCE %s IS %L', seq, s.remark);
    END IF;
    RETURN NEXT format('ALTER TABLE %s ALTER COLUMN %I ', tab, col) || CASE
        WHEN s.origin = 'no default' THEN 'DROP DEFAULT' ELSE format('SET DEFAULT nextval(%L::regclass)', seq) END;
END $fn$;
COMMENT ON FUNCTION pgflurry.steps_to_sequence(regclass, text, regclass, bigint) IS
'The statements that convert_to_sequence() would execute now, in their order, for a column whose greatest value is '
'greatest_key; none if there is nothing to do.';
