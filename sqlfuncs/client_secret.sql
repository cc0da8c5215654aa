-- The secret behind the salts that unknown clients of the ID database are shown. It is made once, here and not in its
-- migration, because a dump of the schema alone brings the table and not the row. A uuid has 122 random bits.

INSERT INTO pgflurry.client_secret (secret)
    SELECT sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()))
    WHERE NOT EXISTS (SELECT FROM pgflurry.client_secret);
