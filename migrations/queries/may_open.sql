-- Reads whether "pgflurry open" can open this closed database: its row is the one that was closed.
SELECT n.closed_at IS NULL OR n.generation = c.last_value FROM pgflurry.namespace AS n, pgflurry.closed AS c
