-- The end of a widening without a long lock: copies replace the narrow columns.

CREATE OR REPLACE FUNCTION pgflurry.narrow_foreign_keys(tab regclass, col text,
    OUT rel regclass, OUT name name, OUT wide name, OUT refers_to regclass, OUT definition text)
RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $fn$
    SELECT f.conrelid::regclass, f.conname, pgflurry.wide_name(f.conname), f.confrelid::regclass,
        format('FOREIGN KEY (%I) REFERENCES %s (%I)%s ON UPDATE %s ON DELETE %s%s',
            coalesce(here.wide, a.attname), f.confrelid::regclass, coalesce(there.wide, b.attname),
            CASE WHEN f.confmatchtype = 'f' THEN ' MATCH FULL' ELSE '' END, u.word, d.word,
            CASE WHEN f.condeferred THEN ' DEFERRABLE INITIALLY DEFERRED'
                WHEN f.condeferrable THEN ' DEFERRABLE' ELSE '' END)
    FROM pg_constraint AS f
    JOIN pg_attribute AS a ON a.attrelid = f.conrelid AND a.attnum = f.conkey[1]
    JOIN pg_attribute AS b ON b.attrelid = f.confrelid AND b.attnum = f.confkey[1]
    LEFT JOIN pgflurry.narrow_columns(tab, col) AS here ON here.rel = f.conrelid AND here.number = f.conkey[1]
    LEFT JOIN pgflurry.narrow_columns(tab, col) AS there ON there.rel = f.confrelid AND there.number = f.confkey[1]
    JOIN (VALUES ('a', 'NO ACTION'), ('r', 'RESTRICT'), ('c', 'CASCADE'), ('n', 'SET NULL'), ('d', 'SET DEFAULT'))
        AS u (letter, word) ON u.letter = f.confupdtype
    JOIN (VALUES ('a', 'NO ACTION'), ('r', 'RESTRICT'), ('c', 'CASCADE'), ('n', 'SET NULL'), ('d', 'SET DEFAULT'))
        AS d (letter, word) ON d.letter = f.confdeltype
    WHERE f.contype = 'f' AND (here.rel IS NOT NULL OR there.rel IS NOT NULL)
    ORDER BY f.conrelid::regclass::text, f.conname
$fn$;
COMMENT ON FUNCTION pgflurry.narrow_foreign_keys(regclass, text) IS
'Foreign keys from and to columns of narrow_columns(), and what they are between the copies.';

CREATE OR REPLACE FUNCTION pgflurry.steps_of_swap(tab regclass, col text) RETURNS SETOF text
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $fn$
DECLARE
    n record;
    s record;
BEGIN
    RETURN QUERY SELECT * FROM pgflurry.views_again(tab, col, true);
    RETURN QUERY SELECT step FROM pgflurry.narrow_foreign_keys(tab, col) AS f,
        LATERAL (VALUES (1, format('ALTER TABLE %s DROP CONSTRAINT %I', f.rel, f.name)),
            (2, format('ALTER TABLE %s RENAME CONSTRAINT %I TO %I', f.rel, f.wide, f.name))) AS v (place, step)
        ORDER BY f.rel::text, f.name, v.place;
    FOR n IN SELECT w.*, a.attnotnull, a.attidentity, pg_get_expr(d.adbin, d.adrelid) AS expression,
            col_description(w.rel, w.number) AS comment, c.relnamespace,
            (SELECT o.objid::regclass FROM pg_depend AS o JOIN pg_class AS q ON q.oid = o.objid AND q.relkind = 'S'
                WHERE o.classid = 'pg_class'::regclass AND o.refclassid = 'pg_class'::regclass
                  AND o.refobjid = w.rel AND o.refobjsubid = w.number AND o.deptype IN ('a', 'i') LIMIT 1) AS owned
        FROM pgflurry.narrow_columns(tab, col) AS w
        JOIN pg_class AS c ON c.oid = w.rel
        JOIN pg_attribute AS a ON a.attrelid = w.rel AND a.attnum = w.number
        LEFT JOIN pg_attrdef AS d ON d.adrelid = w.rel AND d.adnum = w.number
        ORDER BY w.place
    LOOP
        -- Either there is nothing to do, or an earlier step has failed: then no copy may replace the column.
        RETURN NEXT format('ALTER TABLE %s VALIDATE CONSTRAINT %I', n.rel, n.wide);
        RETURN NEXT format('DROP TRIGGER %I ON %s', 'zz_' || n.wide, n.rel);
        RETURN NEXT format('DROP FUNCTION %s()', pgflurry.widening_function(n.rel, n.place, n.wide));
        IF n.attnotnull THEN
            RETURN NEXT format('ALTER TABLE %s ALTER COLUMN %I SET NOT NULL', n.rel, n.wide);
        END IF;
        RETURN NEXT format('ALTER TABLE %s DROP CONSTRAINT %I', n.rel, n.wide);
        IF n.attidentity <> '' THEN
            SELECT * INTO s FROM pgflurry.sequence_state(n.owned);
            RETURN NEXT format('SELECT set_config(''pgflurry.last'', last_value::text, true), '
                'set_config(''pgflurry.called'', is_called::text, true) FROM %s', n.owned);
            RETURN NEXT format('ALTER TABLE %s ALTER COLUMN %I DROP IDENTITY', n.rel, n.name);
            RETURN NEXT format('ALTER TABLE %s ALTER COLUMN %I ADD GENERATED %s AS IDENTITY (SEQUENCE NAME %s '
                'INCREMENT BY %s MINVALUE %s MAXVALUE %s START WITH %s CACHE %s %s)', n.rel, n.wide,
                CASE n.attidentity WHEN 'a' THEN 'ALWAYS' ELSE 'BY DEFAULT' END, n.owned, s.increment, s.lowest,
                s.highest, s.start, s.cache, CASE WHEN s.cycle THEN 'CYCLE' ELSE 'NO CYCLE' END);
            RETURN NEXT format('SELECT setval(%L, current_setting(''pgflurry.last'')::bigint, '
                'current_setting(''pgflurry.called'')::boolean)', n.owned);
        ELSE
            IF n.owned IS NOT NULL THEN
                RETURN NEXT format('ALTER SEQUENCE %s OWNED BY %s.%I', n.owned, n.rel, n.wide);
            END IF;
            IF n.expression IS NOT NULL THEN
                RETURN NEXT format('ALTER TABLE %s ALTER COLUMN %I SET DEFAULT %s', n.rel, n.wide, n.expression);
            END IF;
        END IF;
        RETURN NEXT format('ALTER TABLE %s DROP COLUMN %I', n.rel, n.name);  -- the indexes go with it
        RETURN NEXT format('ALTER TABLE %s RENAME COLUMN %I TO %I', n.rel, n.wide, n.name);
        RETURN QUERY SELECT CASE WHEN k.contype IS NULL
                THEN format('ALTER INDEX %s.%I RENAME TO %I', n.relnamespace::regnamespace,
                    pgflurry.wide_name(c.relname), c.relname)
                ELSE format('ALTER TABLE %s ADD CONSTRAINT %I %s USING INDEX %I', n.rel, k.conname,
                    CASE k.contype WHEN 'p' THEN 'PRIMARY KEY' ELSE 'UNIQUE' END, pgflurry.wide_name(c.relname)) END
            FROM pg_index AS i
            JOIN pg_class AS c ON c.oid = i.indexrelid
            LEFT JOIN pg_constraint AS k ON k.conindid = i.indexrelid AND k.contype IN ('p', 'u')
            WHERE i.indrelid = n.rel AND n.number = ANY (i.indkey::smallint[])
            ORDER BY c.relname;
        IF n.comment IS NOT NULL THEN
            RETURN NEXT format('COMMENT ON COLUMN %s.%I IS %L', n.rel, n.name, n.comment);
        END IF;
    END LOOP;
    RETURN QUERY SELECT * FROM pgflurry.views_again(tab, col, false);
END $fn$;
COMMENT ON FUNCTION pgflurry.steps_of_swap(regclass, text) IS
'The statements of the transaction in which copies take the places of the columns of narrow_columns().';
