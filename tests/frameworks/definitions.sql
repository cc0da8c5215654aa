-- What pgflurry made here: its functions, the constraints of its tables, and the columns. The UUID of the ID
-- space differs between databases, so it is masked.
SELECT regexp_replace(definition, '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}', 'ID SPACE', 'g')
FROM (
    SELECT pg_get_functiondef(oid) AS definition
    FROM pg_proc
    WHERE pronamespace = to_regnamespace('pgflurry')
       OR pronamespace = to_regnamespace('public') AND obj_description(oid, 'pg_proc') <> ''
    UNION ALL
    SELECT format('%s %s %s', conrelid::regclass, conname, pg_get_constraintdef(oid))
    FROM pg_constraint
    WHERE connamespace = to_regnamespace('pgflurry')
    UNION ALL
    SELECT format('%s.%s %s %s %s', table_name, column_name, data_type, is_nullable, column_default)
    FROM information_schema.columns
    WHERE table_schema = 'pgflurry'
) AS all_of_them
ORDER BY 1;
