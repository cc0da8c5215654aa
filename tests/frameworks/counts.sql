-- Counts what PostgreSQL ran in a database so far: INSERTs and COPYs, draws of IDs, other statements on the tables.
-- $1 name of the database
SELECT coalesce(sum(calls) FILTER (WHERE inserts), 0)::int,
       coalesce(sum(calls) FILTER (WHERE NOT inserts AND draws), 0)::int,
       coalesce(sum(calls) FILTER (WHERE NOT inserts AND NOT draws AND touches), 0)::int
FROM (
    SELECT calls, query ~* '\minsert\s+into\M|^copy\M.* from stdin' AS inserts,
           query ~* '\mnext_snowflakes?\s*\(' AS draws,
           query ~* '\m(from|update|join)\s+["a-z_.]*\m(author|book)\M' AS touches
    FROM (
        SELECT calls, regexp_replace(query, '--[^\n]*', '', 'g') AS query -- a comment may name the function
        FROM pg_stat_statements
        JOIN pg_database ON pg_database.oid = dbid
        WHERE datname = $1
    ) AS uncommented
) AS statement;
