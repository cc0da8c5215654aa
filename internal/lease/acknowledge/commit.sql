-- Ends the transaction. The write is acknowledged only if the command tag is COMMIT and the server sends no notice.
-- After an earlier error COMMIT itself reports no error, but its tag is ROLLBACK.
COMMIT;
