-- Whether book refers to author.
SELECT EXISTS (
    SELECT FROM pg_constraint
    WHERE contype = 'f' AND conrelid = to_regclass('book') AND confrelid = to_regclass('author')
);
