-- Fixed here, because a role or a database may set them otherwise: another isolation level turns a concurrent change
-- into an error, and read-only refuses the write. On a standby this is the statement that fails.
BEGIN ISOLATION LEVEL READ COMMITTED, READ WRITE;
