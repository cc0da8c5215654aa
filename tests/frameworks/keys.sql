-- Each table with the right key: a bigint that next_snowflake() makes.
SELECT table_name::text
FROM information_schema.columns
WHERE table_name IN ('author', 'book') AND column_name = 'id' AND data_type = 'bigint'
  AND column_default ~ '^(\w+\.)?next_snowflake\(\)$'
ORDER BY table_name;
