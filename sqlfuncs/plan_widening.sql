-- How an integer key becomes bigint, with the columns that refer to it: statements for people to run. There are two
-- ways. ALTER COLUMN ... TYPE rewrites the tables under an ACCESS EXCLUSIVE lock. The other way copies the column while
-- everybody works, and swaps in a short transaction. Nothing here takes a lock or changes anything.

CREATE OR REPLACE FUNCTION pgflurry.wide_name(of name) RETURNS name
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $fn$
    SELECT (left(of, 58) || '_wide')::name
$fn$;
COMMENT ON FUNCTION pgflurry.wide_name(name) IS
'The name of the copy of a column, an index or a constraint, until it takes the place of that.';

CREATE OR REPLACE FUNCTION pgflurry.narrow_columns(tab regclass, col text,
    OUT place integer, OUT rel regclass, OUT number smallint, OUT name name, OUT wide name)
RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $fn$
    WITH RECURSIVE key (rel, number) AS (
        SELECT a.attrelid, a.attnum FROM pg_attribute AS a WHERE a.attrelid = tab AND a.attname = col
        UNION
        SELECT f.conrelid, k.there
        FROM key JOIN pg_constraint AS f ON f.contype = 'f' AND f.confrelid = key.rel AND f.conparentid = 0,
             unnest(f.confkey, f.conkey) AS k (here, there)
        WHERE k.here = key.number)
    SELECT (row_number() OVER (ORDER BY a.attrelid <> tab, a.attrelid::regclass::text, a.attnum))::integer,
        a.attrelid::regclass, a.attnum, a.attname, pgflurry.wide_name(a.attname)
    FROM key JOIN pg_attribute AS a ON a.attrelid = key.rel AND a.attnum = key.number
    WHERE a.atttypid IN ('integer'::regtype, 'smallint'::regtype)
$fn$;
COMMENT ON FUNCTION pgflurry.narrow_columns(regclass, text) IS
'A key and the columns that refer to it, directly or through another key, if they are integer or smallint: '
'table, column, and the name of its copy while it is widened.';

CREATE OR REPLACE FUNCTION pgflurry.views_of_columns(tab regclass, col text, OUT view regclass, OUT depth integer)
RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $fn$
    WITH RECURSIVE reads (view, depth) AS (
        SELECT r.ev_class, 1
        FROM pgflurry.narrow_columns(tab, col) AS n
        JOIN pg_depend AS d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = n.rel AND d.refobjsubid = n.number
        JOIN pg_rewrite AS r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid AND r.rulename = '_RETURN'
        UNION
        SELECT r.ev_class, reads.depth + 1
        FROM reads
        JOIN pg_depend AS d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = reads.view
        JOIN pg_rewrite AS r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid AND r.rulename = '_RETURN'
        WHERE r.ev_class <> reads.view)
    SELECT reads.view::regclass, max(reads.depth) FROM reads GROUP BY reads.view ORDER BY 2, 1
$fn$;
COMMENT ON FUNCTION pgflurry.views_of_columns(regclass, text) IS
'Views that read columns of narrow_columns(), directly or through another view: '
'the type of a column that a view reads cannot change.';

CREATE OR REPLACE FUNCTION pgflurry.views_again(tab regclass, col text, dropped boolean) RETURNS SETOF text
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $fn$
DECLARE
    v record;
BEGIN
    IF dropped THEN
        RETURN QUERY SELECT format('DROP VIEW %s', w.view) FROM pgflurry.views_of_columns(tab, col) AS w
            JOIN pg_class AS c ON c.oid = w.view AND c.relkind = 'v' ORDER BY w.depth DESC, w.view::text;
        RETURN;
    END IF;
    FOR v IN SELECT w.view, c.* FROM pgflurry.views_of_columns(tab, col) AS w
        JOIN pg_class AS c ON c.oid = w.view AND c.relkind = 'v' ORDER BY w.depth, w.view::text
    LOOP
        RETURN NEXT format('CREATE VIEW %s%s AS %s', v.view,
            ' WITH (' || array_to_string(v.reloptions, ', ') || ')', rtrim(pg_get_viewdef(v.view), ';'));
        RETURN NEXT format('ALTER VIEW %s OWNER TO %I', v.view, pg_get_userbyid(v.relowner));
        RETURN QUERY SELECT format('GRANT %s ON %s TO %s%s', g.privilege_type, v.view,
                CASE WHEN g.grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(g.grantee)) END,
                CASE WHEN g.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END)
            FROM aclexplode(v.relacl) AS g WHERE g.grantee <> v.relowner;
        RETURN QUERY SELECT format('COMMENT ON VIEW %s IS %L', v.view, obj_description(v.view, 'pg_class'))
            WHERE obj_description(v.view, 'pg_class') IS NOT NULL;
        RETURN QUERY SELECT step FROM pg_attribute AS a
            LEFT JOIN pg_attrdef AS x ON x.adrelid = a.attrelid AND x.adnum = a.attnum
            LEFT JOIN LATERAL aclexplode(a.attacl) AS g ON true,
            LATERAL (VALUES
                (1, format('ALTER VIEW %s ALTER COLUMN %I SET DEFAULT ', v.view, a.attname)
                    || pg_get_expr(x.adbin, x.adrelid)),
                (2, format('COMMENT ON COLUMN %s.%I IS ', v.view, a.attname)
                    || quote_literal(col_description(a.attrelid, a.attnum))),
                (3, format('GRANT %s (%I) ON %s TO ', g.privilege_type, a.attname, v.view)
                    || CASE WHEN g.grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(g.grantee)) END
                    || CASE WHEN g.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END)) AS s (place, step)
            WHERE a.attrelid = v.view AND a.attnum > 0 AND step IS NOT NULL
            GROUP BY a.attnum, s.place, step ORDER BY a.attnum, s.place, step;
    END LOOP;
END $fn$;
COMMENT ON FUNCTION pgflurry.views_again(regclass, text, boolean) IS
'Statements that drop the views of views_of_columns(), or make them again as they are now, '
'with owner, rights, comments and defaults.';

-- An index is copied if its columns describe it: a btree of plain columns, sorted as bigint is.
CREATE OR REPLACE FUNCTION pgflurry.copied_index(index oid, number smallint, wide name) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $fn$
    SELECT format('CREATE %sINDEX CONCURRENTLY %I ON %s (%s)%s', CASE WHEN i.indisunique THEN 'UNIQUE ' ELSE '' END,
        pgflurry.wide_name(c.relname), i.indrelid::regclass,
        string_agg(quote_ident(CASE WHEN k.att = number THEN wide ELSE a.attname END)
            || CASE i.indoption[k.place - 1] WHEN 1 THEN ' DESC NULLS LAST' WHEN 2 THEN ' NULLS FIRST'
                WHEN 3 THEN ' DESC' ELSE '' END, ', ' ORDER BY k.place) FILTER (WHERE k.place <= i.indnkeyatts),
        ' INCLUDE (' || string_agg(quote_ident(CASE WHEN k.att = number THEN wide ELSE a.attname END), ', '
            ORDER BY k.place) FILTER (WHERE k.place > i.indnkeyatts) || ')')
    FROM pg_index AS i
    JOIN pg_class AS c ON c.oid = i.indexrelid
    JOIN pg_am AS m ON m.oid = c.relam AND m.amname = 'btree',
        unnest(i.indkey::smallint[]) WITH ORDINALITY AS k (att, place)
    LEFT JOIN pg_attribute AS a ON a.attrelid = (SELECT indrelid FROM pg_index WHERE indexrelid = index)
        AND a.attnum = k.att
    WHERE i.indexrelid = index AND i.indexprs IS NULL AND i.indpred IS NULL AND i.indisvalid
      AND NOT i.indisreplident AND NOT i.indisclustered AND c.reloptions IS NULL AND c.reltablespace = 0
      AND i.indimmediate AND NOT coalesce((to_jsonb(i) ->> 'indnullsnotdistinct')::boolean, false)
      AND NOT EXISTS (SELECT FROM pg_opclass AS o WHERE o.oid = ANY (i.indclass) AND NOT o.opcdefault)
      AND NOT EXISTS (SELECT FROM unnest(i.indcollation::oid[], i.indkey::smallint[]) AS l (sorted_by, att)
                      JOIN pg_attribute AS b ON b.attrelid = i.indrelid AND b.attnum = l.att
                      WHERE l.sorted_by <> 0 AND l.sorted_by <> b.attcollation)
    GROUP BY i.indexrelid, i.indisunique, i.indrelid, c.relname
$fn$;
COMMENT ON FUNCTION pgflurry.copied_index(oid, smallint, name) IS
'The statement that makes an index again on the copy of a column; NULL if the index has something '
'that its columns do not describe: expressions, a predicate, options, a replica identity.';

CREATE OR REPLACE FUNCTION pgflurry.widening_obstacles(tab regclass, col text) RETURNS SETOF text
LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $fn$
    SELECT format('table %s has partitions or children, or is one', n.rel)
    FROM pgflurry.narrow_columns(tab, col) AS n JOIN pg_class AS c ON c.oid = n.rel
    WHERE c.relkind <> 'r' OR c.relispartition
       OR EXISTS (SELECT FROM pg_inherits WHERE n.rel IN (inhparent, inhrelid))
    UNION
    SELECT format('%s holds rows of table %s', pg_describe_object(d.classid, d.objid, d.objsubid), n.rel)
    FROM pgflurry.narrow_columns(tab, col) AS n
    JOIN pg_type AS t ON t.typrelid = n.rel
    JOIN pg_depend AS d ON d.refclassid = 'pg_type'::regclass AND d.refobjid IN (t.oid, t.typarray)
        AND d.classid = 'pg_class'::regclass AND d.objsubid > 0
    UNION
    SELECT format('column %s.%I has rights of its own', n.rel, n.name)
    FROM pgflurry.narrow_columns(tab, col) AS n
    JOIN pg_attribute AS a ON a.attrelid = n.rel AND a.attnum = n.number
    WHERE a.attacl IS NOT NULL
    UNION
    SELECT format('foreign key %s of %s has more than one column', f.conname, f.conrelid::regclass)
    FROM pgflurry.narrow_columns(tab, col) AS n
    JOIN pg_constraint AS f ON f.contype = 'f' AND (f.conrelid = n.rel AND n.number = ANY (f.conkey)
        OR f.confrelid = n.rel AND n.number = ANY (f.confkey))
    WHERE cardinality(f.conkey) > 1
    UNION
    SELECT format('materialized view %s reads column %I', v.view, col)
    FROM pgflurry.views_of_columns(tab, col) AS v JOIN pg_class AS c ON c.oid = v.view AND c.relkind = 'm'
    UNION
    SELECT format('view %s has triggers or rules', v.view)
    FROM pgflurry.views_of_columns(tab, col) AS v
    WHERE EXISTS (SELECT FROM pg_trigger WHERE tgrelid = v.view)
       OR EXISTS (SELECT FROM pg_rewrite WHERE ev_class = v.view AND rulename <> '_RETURN')
    UNION
    SELECT format('%s uses column %s.%I', pg_describe_object(d.classid, d.objid, d.objsubid), n.rel, n.name)
    FROM pgflurry.narrow_columns(tab, col) AS n
    JOIN pg_depend AS d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = n.rel AND d.refobjsubid = n.number
    LEFT JOIN pg_class AS c ON d.classid = 'pg_class'::regclass AND c.oid = d.objid
    WHERE NOT (d.classid = 'pg_attrdef'::regclass
            AND EXISTS (SELECT FROM pg_attrdef WHERE oid = d.objid AND adrelid = n.rel AND adnum = n.number))
      AND NOT (d.classid = 'pg_constraint'::regclass
            AND EXISTS (SELECT FROM pg_constraint WHERE oid = d.objid AND contype IN ('f', 'p', 'u', 'n')))
      AND NOT (d.classid = 'pg_rewrite'::regclass
            AND EXISTS (SELECT FROM pg_rewrite WHERE oid = d.objid AND rulename = '_RETURN'))
      AND NOT (c.relkind IS NOT DISTINCT FROM 'S' AND d.deptype IN ('a', 'i'))
      AND NOT (c.relkind IS NOT DISTINCT FROM 'i' AND pgflurry.copied_index(c.oid, n.number, n.wide) IS NOT NULL)
    UNION
    SELECT format('index %s of column %s.%I is not plain', i.indexrelid::regclass, n.rel, n.name)
    FROM pgflurry.narrow_columns(tab, col) AS n
    JOIN pg_index AS i ON i.indrelid = n.rel AND n.number = ANY (i.indkey::smallint[])
    WHERE pgflurry.copied_index(i.indexrelid, n.number, n.wide) IS NULL
       OR (SELECT count(*) FROM pgflurry.narrow_columns(tab, col) AS m
           WHERE m.rel = i.indrelid AND m.number = ANY (i.indkey::smallint[])) > 1
$fn$;
COMMENT ON FUNCTION pgflurry.widening_obstacles(regclass, text) IS
'What prevents a widening without a long lock, because the plan cannot describe it.';

CREATE OR REPLACE FUNCTION pgflurry.widening_function(rel regclass, place integer, wide name) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $fn$
    SELECT format('%s.%I', relnamespace::regnamespace, left(relname, 28) || '_' || left(wide, 31) || '_' || place)
    FROM pg_class WHERE oid = rel
$fn$;
COMMENT ON FUNCTION pgflurry.widening_function(regclass, integer, name) IS
'The function of the trigger that keeps the copy of a column: its own one, also where tables have long names.';

CREATE OR REPLACE FUNCTION pgflurry.steps_to_bigint(tab regclass, col text, rewrite boolean)
RETURNS TABLE (statement text, lock text, held text, note text)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $fn$
DECLARE
    obstacles text;
    tables    text;
    large     boolean;
    brief     constant text := 'milliseconds: metadata only';
    patience  constant text := 'SET LOCAL lock_timeout = ''500ms''';
BEGIN
    SELECT string_agg(o, '; ' ORDER BY o) INTO obstacles FROM pgflurry.widening_obstacles(tab, col) AS o;
    SELECT sum(pg_total_relation_size(r.rel)) > 100e6, string_agg(r.rel::text, ', ' ORDER BY r.rel <> tab, r.rel::text)
        INTO large, tables
        FROM (SELECT n.rel FROM pgflurry.narrow_columns(tab, col) AS n
              UNION SELECT unnest(ARRAY[f.rel, f.refers_to]) FROM pgflurry.narrow_foreign_keys(tab, col) AS f) AS r;
    IF coalesce(rewrite, NOT large) OR obstacles IS NOT NULL THEN
        IF obstacles IS NOT NULL THEN
            RETURN QUERY VALUES (NULL, NULL, NULL,
                'the way without a long lock is to be written by hand here, and some of this stops ALTER TYPE too: '
                    || obstacles);
        END IF;
        RETURN QUERY VALUES ('BEGIN', NULL, NULL, NULL), (patience, NULL, NULL,
                'less than deadlock_timeout; on error 55P03: ROLLBACK, and again from BEGIN'),
            (format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', tables), 'ACCESS EXCLUSIVE on ' || tables,
                'until COMMIT: the sum of what follows', NULL);
        RETURN QUERY SELECT v, 'ACCESS EXCLUSIVE on the view', brief, 'no column that a view reads changes its type'
            FROM pgflurry.views_again(tab, col, true) AS v;
        RETURN QUERY SELECT format('ALTER TABLE %s ALTER COLUMN %I TYPE bigint', n.rel, n.name),
                'ACCESS EXCLUSIVE on ' || n.rel, pgflurry.rewrite_time(n.rel),
                'then foreign keys are checked: reads both tables'
            FROM pgflurry.narrow_columns(tab, col) AS n ORDER BY n.place;
        RETURN QUERY SELECT v, NULL, brief, NULL FROM pgflurry.views_again(tab, col, false) AS v;
        RETURN QUERY VALUES ('COMMIT', NULL, NULL, NULL);
        RETURN;
    END IF;

    -- A copy of each column, kept up to date by a trigger. The trigger's name makes it run last, after those that
    -- change the key.
    RETURN QUERY SELECT s.statement, s.lock, s.held, s.note
        FROM pgflurry.narrow_columns(tab, col) AS n,
        LATERAL (SELECT pgflurry.widening_function(n.rel, n.place, n.wide)) AS f (name),
        LATERAL (VALUES
            (1, 'BEGIN', NULL, NULL, NULL),
            (2, patience, NULL, NULL, 'less than deadlock_timeout; on error 55P03: ROLLBACK, and again from BEGIN'),
            (3, format('ALTER TABLE %s ADD COLUMN %I bigint', n.rel, n.wide), 'ACCESS EXCLUSIVE on ' || n.rel,
                brief, NULL),
            (4, format('CREATE FUNCTION %s() RETURNS trigger LANGUAGE plpgsql AS %L', f.name,
                format('BEGIN NEW.%I := NEW.%I; RETURN NEW; END', n.wide, n.name)), NULL, NULL, NULL),
            (5, format('CREATE TRIGGER %I BEFORE INSERT OR UPDATE ON %s FOR EACH ROW EXECUTE FUNCTION %s()',
                'zz_' || n.wide, n.rel, f.name), 'SHARE ROW EXCLUSIVE on ' || n.rel, brief, NULL),
            (6, format('ALTER TABLE %s ENABLE ALWAYS TRIGGER %I', n.rel, 'zz_' || n.wide),
                'SHARE ROW EXCLUSIVE on ' || n.rel, brief, 'for rows that replication brings, too'),
            (7, 'COMMIT', NULL, NULL, NULL)) AS s (place, statement, lock, held, note)
        ORDER BY n.place, s.place;

    RETURN QUERY VALUES ('SET row_security = off', NULL, NULL,
        'rows that a policy hides are an error now, and not left out: a role that sees them all goes on');

    -- By blocks, because that needs no index. A row that another session has locked is left to the next pass, so this
    -- never waits and causes no deadlock.
    RETURN QUERY SELECT format('DO %L', format($do$
DECLARE
    blocks constant bigint := pg_relation_size(%1$L) / current_setting('block_size')::bigint;
    block bigint;
BEGIN
    LOOP
        block := 0;
        WHILE block <= blocks LOOP
            UPDATE %1$s SET %2$I = %3$I WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM %1$s
                WHERE ctid >= format('(%%s,0)', block)::tid AND ctid < format('(%%s,0)', block + 100)::tid
                  AND %2$I IS DISTINCT FROM %3$I
                FOR NO KEY UPDATE SKIP LOCKED));
            COMMIT;
            block := block + 100;
        END LOOP;
        EXIT WHEN NOT EXISTS (SELECT FROM %1$s WHERE %2$I IS DISTINCT FROM %3$I);
        COMMIT;
        PERFORM pg_sleep(1);
    END LOOP;
END $do$, n.rel, n.wide, n.name)), 'ROW EXCLUSIVE on ' || n.rel,
            'blocks nobody for longer than 100 blocks take; writes the whole table anew: ' || pgflurry.size_of(n.rel),
            'may be stopped and run again'
        FROM pgflurry.narrow_columns(tab, col) AS n ORDER BY n.place;
    RETURN QUERY VALUES ('RESET row_security', NULL, NULL, NULL);

    RETURN QUERY SELECT pgflurry.copied_index(i.indexrelid, n.number, n.wide), 'SHARE UPDATE EXCLUSIVE on ' || n.rel,
            'blocks no reader and no writer; reads the table twice: ' || pgflurry.size_of(n.rel),
            'if it fails, DROP INDEX what it left, and again'
        FROM pgflurry.narrow_columns(tab, col) AS n
        JOIN pg_index AS i ON i.indrelid = n.rel AND n.number = ANY (i.indkey::smallint[])
        ORDER BY n.place, i.indexrelid::regclass::text;

    RETURN QUERY SELECT s.statement, s.lock, s.held, s.note FROM pgflurry.narrow_columns(tab, col) AS n
        JOIN pg_attribute AS a ON a.attrelid = n.rel AND a.attnum = n.number,
        LATERAL (VALUES
            (1, 'BEGIN', NULL, NULL, NULL), (2, patience, NULL, NULL, NULL),
            (3, format('ALTER TABLE %s ADD CONSTRAINT %I CHECK (%I IS NOT DISTINCT FROM %I%s) NOT VALID', n.rel, n.wide,
                n.wide, n.name, CASE WHEN a.attnotnull THEN format(' AND %I IS NOT NULL', n.wide) ELSE '' END),
                'ACCESS EXCLUSIVE on ' || n.rel, brief, NULL),
            (4, 'COMMIT', NULL, NULL, NULL),
            (5, format('ALTER TABLE %s VALIDATE CONSTRAINT %I', n.rel, n.wide), 'SHARE UPDATE EXCLUSIVE on ' || n.rel,
                'blocks no reader and no writer; reads the table: ' || pgflurry.size_of(n.rel),
                'fails if a row was left out; and SET NOT NULL need not read the table then'))
                AS s (place, statement, lock, held, note)
        ORDER BY n.place, s.place;

    RETURN QUERY SELECT s.statement, s.lock, s.held, s.note FROM pgflurry.narrow_foreign_keys(tab, col) AS f,
        LATERAL (VALUES
            (1, 'BEGIN', NULL, NULL, NULL), (2, patience, NULL, NULL, NULL),
            (3, format('LOCK TABLE %s, %s IN SHARE ROW EXCLUSIVE MODE', f.refers_to, f.rel),
                format('SHARE ROW EXCLUSIVE on %s, %s', f.refers_to, f.rel), 'until COMMIT',
                'in the order in which rows are inserted'),
            (4, format('ALTER TABLE %s ADD CONSTRAINT %I %s NOT VALID', f.rel, f.wide, f.definition),
                format('SHARE ROW EXCLUSIVE on %s, %s', f.refers_to, f.rel), brief, NULL),
            (5, 'COMMIT', NULL, NULL, NULL),
            (6, format('ALTER TABLE %s VALIDATE CONSTRAINT %I', f.rel, f.wide),
                format('SHARE UPDATE EXCLUSIVE on %s, ROW SHARE on %s', f.rel, f.refers_to),
                'blocks no reader and no writer; reads the table: ' || pgflurry.size_of(f.rel), NULL))
            AS s (place, statement, lock, held, note)
        ORDER BY f.rel::text, f.name, s.place;

    RETURN QUERY VALUES ('BEGIN', NULL, NULL, NULL), (patience, NULL, NULL, NULL),
        (format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', tables), 'ACCESS EXCLUSIVE on ' || tables,
            'until COMMIT: milliseconds, all that follows is metadata', NULL);
    RETURN QUERY SELECT s, 'ACCESS EXCLUSIVE', brief, NULL FROM pgflurry.steps_of_swap(tab, col) AS s;
    RETURN QUERY VALUES ('COMMIT', NULL, NULL,
        'the column is the last of its table now: INSERT and COPY without a list of columns mean others');
END $fn$;
COMMENT ON FUNCTION pgflurry.steps_to_bigint(regclass, text, boolean) IS
'The statements that make the columns of narrow_columns() bigint, by a rewrite or without a long lock.';
