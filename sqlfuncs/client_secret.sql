-- The secret of the salts that the ID database shows for unknown clients. It is made once. A migration cannot make it:
-- a dump of the schema alone brings the migration's table and not its row. A uuid has 122 random bits.

INSERT INTO pgflurry.client_secret (secret)
    SELECT sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()))
    WHERE NOT EXISTS (SELECT FROM pgflurry.client_secret);
