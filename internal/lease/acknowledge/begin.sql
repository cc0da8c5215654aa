-- Begins the transaction of one write. The modes stand here, because a role or a database may have other defaults. A
-- stricter isolation level turns a concurrent change into an error, and a read-only transaction refuses the write. On a
-- standby this statement fails, so a standby never acknowledges a write.
BEGIN ISOLATION LEVEL READ COMMITTED, READ WRITE;
