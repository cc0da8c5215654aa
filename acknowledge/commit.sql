-- Acknowledged when its tag is COMMIT and nothing was added: after an error the tag would be ROLLBACK,
-- without an error of its own.
COMMIT;
