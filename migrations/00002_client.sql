-- Who may log in to the ID database, the sessions of "pgflurry serve --id-database" that need no PostgreSQL.
-- Both tables hold secrets: PUBLIC has no right on them, and pgflurry.grant_lease() gives a role the right to read.

CREATE TABLE pgflurry.client (
    name             text COLLATE "C" NOT NULL
        CONSTRAINT client_pkey PRIMARY KEY
        CONSTRAINT client_name_length CHECK (octet_length(name) BETWEEN 1 AND 63)
        -- it stands in logs and in messages
        CONSTRAINT client_name_has_no_control_characters CHECK (name !~ '[\u0001-\u001F\u007F]'),
    verifier         text COLLATE "C"
        CONSTRAINT client_verifier_length CHECK (octet_length(verifier) <= 512)
        -- as PostgreSQL writes it in pg_authid: neither an md5 hash nor a password in clear text
        -- \x3F is the question mark: tools that run this text would take one for a parameter
        CONSTRAINT client_verifier_is_scram_sha_256 CHECK (verifier ~ (E'^SCRAM-SHA-256\\$[1-9][0-9]{0,8}:(\x3F=[^$])'
            '([A-Za-z0-9+/]{4})*([A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)\x3F'
            '\\$[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=:[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$')),
    valid_until      timestamptz
        CONSTRAINT client_valid_until_is_finite CHECK (isfinite(valid_until)),
    connection_limit integer
        CONSTRAINT client_connection_limit_is_not_negative CHECK (connection_limit >= 0),
    created_at       timestamptz NOT NULL DEFAULT clock_timestamp(),
    changed_at       timestamptz NOT NULL DEFAULT clock_timestamp()
);

COMMENT ON TABLE pgflurry.client IS
'Who may log in to the ID database, one row a client; kept by "pgflurry clients". '
'Proxies read it every few seconds.';
COMMENT ON COLUMN pgflurry.client.name IS 'The user that the client names when it connects: 1 to 63 bytes.';
COMMENT ON COLUMN pgflurry.client.verifier IS
'What is kept of its password, SCRAM-SHA-256 in the form of pg_authid.rolpassword; '
'NULL: it logs in with a certificate alone.';
COMMENT ON COLUMN pgflurry.client.valid_until IS 'The last instant at which it may log in; NULL: for ever.';
COMMENT ON COLUMN pgflurry.client.connection_limit IS
'How many sessions it may have at once on each proxy; NULL: any number.';
COMMENT ON COLUMN pgflurry.client.created_at IS 'When the row was made.';
COMMENT ON COLUMN pgflurry.client.changed_at IS 'When the row was last changed, or made; kept by a trigger.';

CREATE FUNCTION pgflurry.note_client_change() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $fn$
BEGIN
    NEW.created_at := OLD.created_at;
    NEW.changed_at := clock_timestamp();
    RETURN NEW;
END $fn$;
COMMENT ON FUNCTION pgflurry.note_client_change() IS
'Notes when a row of pgflurry.client changes. What a subscription brings along stays as it is.';

CREATE TRIGGER note_client_change BEFORE UPDATE ON pgflurry.client
    FOR EACH ROW EXECUTE FUNCTION pgflurry.note_client_change();


-- A client without a row is asked for a proof, too, with a salt that this secret and its name determine. So nobody can
-- tell from outside which names there are, whichever proxy he asks. "migrate up" writes the row, also where a dump was
-- restored without its data.
CREATE TABLE pgflurry.client_secret (
    only_row boolean NOT NULL DEFAULT true
        CONSTRAINT client_secret_pkey PRIMARY KEY
        CONSTRAINT client_secret_has_one_row CHECK (only_row),
    secret   bytea   NOT NULL
        CONSTRAINT client_secret_has_32_bytes CHECK (octet_length(secret) = 32)
);

COMMENT ON TABLE pgflurry.client_secret IS
'One row: the secret behind the salts that clients without an account are shown.';
COMMENT ON COLUMN pgflurry.client_secret.only_row IS 'Always true: keeps the table at one row.';
COMMENT ON COLUMN pgflurry.client_secret.secret IS
'Random, 32 bytes. With another one the salts of unknown names change, which tells them from known ones.';


-- What the owner grants on all his later tables (ALTER DEFAULT PRIVILEGES) is for tables of applications.
DO $do$
DECLARE
    g record;
BEGIN
    FOR g IN
        SELECT DISTINCT c.relname,
               CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END AS grantee
        FROM pg_class AS c, aclexplode(c.relacl) AS a
        WHERE c.oid IN ('pgflurry.client'::regclass, 'pgflurry.client_secret'::regclass) AND a.grantee <> c.relowner
    LOOP
        EXECUTE format('REVOKE ALL ON pgflurry.%I FROM %s CASCADE', g.relname, g.grantee);
    END LOOP;
END $do$;


-- Down

-- Nobody adds one while it is decided.
LOCK TABLE pgflurry.client IN ACCESS EXCLUSIVE MODE;
DO $do$
DECLARE
    clients bigint := (SELECT count(*) FROM pgflurry.client
        WHERE valid_until IS NULL OR valid_until > clock_timestamp());
BEGIN
    IF clients > 0 THEN
        RAISE EXCEPTION 'pgflurry.client has % clients that may log in to the ID database', clients
            USING ERRCODE = 'restrict_violation',
                  HINT = 'Removed, nobody knows their passwords any more. '
                      'Remove each with "pgflurry clients remove" first.';
    END IF;
END $do$;

DROP TABLE pgflurry.client_secret, pgflurry.client;
DROP FUNCTION pgflurry.note_client_change();
