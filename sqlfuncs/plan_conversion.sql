-- Shows what convert_to_snowflake() would do, before anything is locked. For a column that is too narrow, it shows the
-- statements that come before it. Everything here only reads, under ACCESS SHARE.

CREATE OR REPLACE FUNCTION pgflurry.size_of(rel regclass) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $fn$
    WITH RECURSIVE family (member) AS (
        SELECT rel::oid UNION SELECT i.inhrelid FROM pg_inherits AS i JOIN family ON i.inhparent = family.member)
    SELECT format('%s, %s', pg_size_pretty(sum(pg_table_size(c.oid))),
        CASE WHEN bool_or(c.relkind = 'r' AND c.reltuples < 0) THEN 'rows not counted yet (ANALYZE)'
            ELSE format('about %s rows', coalesce(sum(c.reltuples) FILTER (WHERE c.relkind = 'r'), 0)::bigint) END)
    FROM family JOIN pg_class AS c ON c.oid = family.member
$fn$;
COMMENT ON FUNCTION pgflurry.size_of(regclass) IS 'How much a statement reads that reads a whole table, for people.';

CREATE OR REPLACE FUNCTION pgflurry.rewrite_time(rel regclass) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $fn$
    SELECT format('about %s s, at 20 MB a second: rewrites %s and the indexes, %s',
        round(pg_total_relation_size(rel) / 20e6, 1), pgflurry.size_of(rel), pg_size_pretty(pg_indexes_size(rel)))
$fn$;
COMMENT ON FUNCTION pgflurry.rewrite_time(regclass) IS
'For how long a statement that rewrites a table holds its lock, roughly, for people.';

CREATE OR REPLACE FUNCTION pgflurry.concerned(tab regclass, col text, seq regclass) RETURNS SETOF text
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $fn$
DECLARE
    c      record;
    source regclass;  -- the source of the keys
    name   text;
BEGIN
    SELECT * INTO c FROM pgflurry.key_column('plan_conversion', tab, col, seq);
    source := coalesce(seq, c.drawn_from, c.owned);
    name := (SELECT relname FROM pg_class WHERE oid = source);
    RETURN QUERY SELECT format('foreign key %s of %s: column %I is %s%s', f.conname, f.conrelid::regclass, r.attname,
            r.atttypid::regtype, CASE WHEN r.atttypid = 'bigint'::regtype THEN '' ELSE ', and must be bigint' END)
        FROM pg_constraint AS f, unnest(f.confkey, f.conkey) AS k (here, there), pg_attribute AS r
        WHERE f.contype = 'f' AND f.confrelid = tab AND f.conparentid = 0 AND k.here = c.number
          AND r.attrelid = f.conrelid AND r.attnum = k.there
        ORDER BY 1;
    RETURN QUERY SELECT DISTINCT format('%s %s reads the column', CASE v.relkind WHEN 'm' THEN 'materialized view'
            ELSE 'view' END, v.oid::regclass)
        FROM pg_depend AS d JOIN pg_rewrite AS r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid
        JOIN pg_class AS v ON v.oid = r.ev_class AND v.relkind IN ('v', 'm')
        WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = tab AND d.refobjsubid = c.number
        ORDER BY 1;
    RETURN QUERY SELECT format('rule %s of the table', rulename) FROM pg_rewrite WHERE ev_class = tab ORDER BY 1;
    RETURN QUERY SELECT format('trigger %s calls %s', tgname, tgfoid::regprocedure)
        FROM pg_trigger WHERE tgrelid = tab AND NOT tgisinternal ORDER BY 1;
    RETURN QUERY SELECT format('%s partitions or children get the default too', count(*))
        FROM pg_inherits WHERE inhparent = tab HAVING count(*) > 0;
    RETURN QUERY SELECT format('other columns draw from sequence %s, which therefore goes on: %s', source, c.shared)
        WHERE c.shared IS NOT NULL;
    RETURN QUERY SELECT format('function %s names the sequence, currval or lastval', p.oid::regprocedure)
        FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
        WHERE n.nspname NOT IN ('pg_catalog', 'information_schema', 'pgflurry')
          AND (strpos(p.prosrc, name) > 0 OR p.prosrc ~* '[[:<:]](currval|lastval)[[:>:]]'
            OR EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_proc'::regclass AND objid = p.oid
                       AND refclassid = 'pg_class'::regclass AND refobjid = source))
        ORDER BY 1;
    RETURN QUERY SELECT format('publication %s: a subscriber''s columns must be bigint first', pubname)
        FROM pg_publication_tables AS p
        WHERE format('%I.%I', p.schemaname, p.tablename)::regclass = tab
          AND EXISTS (SELECT FROM pgflurry.narrow_columns(tab, col))
        ORDER BY 1;
END $fn$;
COMMENT ON FUNCTION pgflurry.concerned(regclass, text, regclass) IS
'What else a conversion concerns, in a sentence each: foreign keys, views, rules, triggers, partitions, '
'other columns of the sequence, functions, publications.';

CREATE OR REPLACE FUNCTION pgflurry.plan_conversion(tab regclass, col text DEFAULT 'id',
    old_sequence text DEFAULT 'stop', seq regclass DEFAULT NULL, rewrite boolean DEFAULT NULL)
RETURNS TABLE (step integer, statement text, lock text, held text, note text)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $fn$
DECLARE
    c      record;
    w      record;
    brief  constant text := 'milliseconds: metadata only';
    exclusive text;
BEGIN
    SELECT * INTO c FROM pgflurry.key_column('plan_conversion', tab, col, seq);
    IF c.type NOT IN ('bigint'::regtype, 'integer'::regtype, 'smallint'::regtype) THEN
        PERFORM pgflurry.refuse_narrow('plan_conversion', tab, col, c.type, NULL);
    END IF;
    exclusive := 'ACCESS EXCLUSIVE on ' || tab;
    step := 0;
    FOR note IN SELECT * FROM pgflurry.concerned(tab, col, seq) LOOP
        RETURN NEXT;
    END LOOP;
    note := NULL;
    IF EXISTS (SELECT FROM pgflurry.narrow_columns(tab, col)) THEN
        FOR w IN SELECT * FROM pgflurry.steps_to_bigint(tab, col, rewrite) LOOP
            step := step + CASE WHEN w.statement IS NULL THEN 0 ELSE 1 END;
            statement := w.statement;
            lock := w.lock;
            held := w.held;
            note := w.note;
            RETURN NEXT;
        END LOOP;
        step := step + 1;
        statement := format('SELECT pgflurry.convert_to_snowflake(%L, %L%s%s)', tab, col,
            CASE WHEN old_sequence = 'stop' THEN '' ELSE format(', old_sequence => %L', old_sequence) END,
            CASE WHEN seq IS NULL THEN '' ELSE format(', seq => %L', seq) END);
        lock := exclusive;
        held := brief;
        note := 'the columns are bigint now; plan_conversion() shows what this does';
        RETURN NEXT;
        RETURN;
    END IF;
    IF NOT EXISTS (SELECT FROM pgflurry.steps_to_snowflake(tab, col, old_sequence, seq)) THEN
        note := 'nothing is left to do';
        RETURN NEXT;
        RETURN;
    END IF;
    lock := exclusive;
    step := step + 1;
    statement := format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', tab);
    held := 'until the transaction ends: the sum of what follows';
    note := 'waits for open transactions that use the table, and all others wait behind it: SET lock_timeout';
    RETURN NEXT;
    IF c.target IS NOT NULL AND (old_sequence = 'stop' OR c.identity <> '') THEN
        step := step + 1;
        statement := format('ALTER SEQUENCE %s CACHE %s', c.target,
            (SELECT seqcache FROM pg_sequence WHERE seqrelid = c.target));
        lock := 'SHARE ROW EXCLUSIVE on ' || c.target;
        held := brief;
        note := 'changes nothing: locks out nextval(); after 0.3 s it gives the table free and tries again';
        RETURN NEXT;
    END IF;
    step := step + 1;
    statement := format('SELECT max(%I) FROM %s', col, tab);
    lock := exclusive;
    note := 'must be below next_snowflake()';
    held := CASE WHEN EXISTS (SELECT FROM pg_index WHERE indrelid = tab AND indisvalid AND indpred IS NULL
            AND indkey[0] = c.number) THEN 'milliseconds: the end of an index'
        ELSE 'reads the table, because no index begins with the column: ' || pgflurry.size_of(tab) END;
    RETURN NEXT;
    held := brief;
    note := NULL;
    FOR statement IN SELECT s FROM pgflurry.steps_to_snowflake(tab, col, old_sequence, seq) AS s LOOP
        step := step + 1;
        lock := CASE WHEN statement LIKE 'ALTER TABLE%' THEN exclusive
            WHEN c.target IS NULL THEN NULL ELSE 'SHARE ROW EXCLUSIVE on ' || c.target END;
        note := CASE WHEN statement LIKE 'SELECT setval%' AND old_sequence = 'stop' AND c.shared IS NULL
            THEN 'from here on nextval() is error 2200H' END;
        RETURN NEXT;
    END LOOP;
END $fn$;
COMMENT ON FUNCTION pgflurry.plan_conversion(regclass, text, text, regclass, boolean) IS
'What convert_to_snowflake() with these arguments would do now: each statement in its order, its lock, '
'how long that is held, and before them, as step 0, what else is concerned. Changes nothing, and blocks no session. '
'For an integer column, or with integer columns that refer to it, the statements come first that make them bigint: '
'rewrite => true by ALTER COLUMN ... TYPE, false by a copy of the column without a long lock; '
'NULL: by a copy from 100 MB on, if the plan can describe it. '
'Errors as those of convert_to_snowflake() before its locks.';
