-- Reads whether table book has a foreign key to table author.
SELECT EXISTS (
    SELECT FROM pg_constraint
    WHERE contype = 'f' AND conrelid = to_regclass('book') AND confrelid = to_regclass('author')
);
