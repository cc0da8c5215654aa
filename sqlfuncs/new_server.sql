-- Which server this is, as it tells and as it is reached. A copy of a server's files carries all that is in the files.
-- But it was started anew, and it is reached at another address than its original. namespace/doc.go has the rule.

CREATE OR REPLACE FUNCTION pgflurry.this_server() RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $fn$
DECLARE
    directory text;
    address   inet := inet_server_addr();
BEGIN
    BEGIN
        directory := current_setting('data_directory');
    EXCEPTION WHEN insufficient_privilege OR undefined_object THEN
        NULL;  -- the role lacks pg_read_all_settings, or the server has no such setting
    END;
    RETURN jsonb_strip_nulls(jsonb_build_object(
        'started', extract(epoch FROM pg_postmaster_start_time()),
        'address', CASE WHEN NOT (address <<= '127.0.0.0/8' OR host(address) = '::1') THEN host(address) END,
        'port', current_setting('port')::integer,
        'cluster_name', nullif(current_setting('cluster_name'), ''),
        'data_directory', directory));
END $fn$;
COMMENT ON FUNCTION pgflurry.this_server() IS
'What this server tells of itself: when it was started (seconds since 1970), the address at its end of the connection, '
'port, cluster_name and data_directory. What is not known is left out: an address on the loopback or of a socket, '
'and the directory if the role may not read it (pg_read_all_settings).';

CREATE OR REPLACE FUNCTION pgflurry.is_new_server(known jsonb, here jsonb, reached text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $fn$
    SELECT coalesce(known->'started' <> here->'started'
        AND known->'reached' <> '[]'
        AND NOT EXISTS (SELECT FROM jsonb_array_elements_text(known->'reached') AS k (address)
                        WHERE k.address = ANY (string_to_array(reached, ' ')))
        AND (known->'address' = here->'address' AND known->'port' = here->'port'
             AND (known->'data_directory' = here->'data_directory') IS NOT FALSE) IS NOT TRUE, false)
$fn$;
COMMENT ON FUNCTION pgflurry.is_new_server(jsonb, jsonb, text) IS
'Whether a server is another one than the known one, as far as can be told: it was started since, '
'it is reached at none of the known addresses, '
'and it is not the known machine, port and data directory. What is not known is no difference.';

CREATE OR REPLACE FUNCTION pgflurry.new_server(reached text) RETURNS text
LANGUAGE sql STABLE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $fn$
    SELECT format('database "%s" is on a server that is not known: it was started at %s and is reached at %s; '
               'the known one was started at %s and reached at %s%s',
               current_database(), times.here, replace(reached, ' ', ', '), times.known,
               (SELECT string_agg(r.address, ', ') FROM jsonb_array_elements_text(n.server->'reached') AS r (address)),
               (SELECT string_agg(format('; %s is %s, and was %s', replace(key, '_', ' '), h.value, k.value), ''
                                  ORDER BY key)
                FROM jsonb_each_text(n.server - '{started,reached}'::text[]) AS k
                    JOIN jsonb_each_text(s.here) AS h USING (key)
                WHERE k.value <> h.value))
    FROM pgflurry.namespace AS n, pgflurry.this_server() AS s (here),
        LATERAL (SELECT date_trunc('second', to_timestamp((s.here->>'started')::double precision) AT TIME ZONE 'UTC'),
                        date_trunc('second', to_timestamp((n.server->>'started')::double precision) AT TIME ZONE 'UTC')
        ) AS times (here, known)
    WHERE NOT n.disposable AND NOT pg_is_in_recovery() AND pgflurry.is_new_server(n.server, s.here, reached)
$fn$;
COMMENT ON FUNCTION pgflurry.new_server(text) IS
'Why the server of this database may be a copy that nobody has declared, in a sentence. '
'NULL if it is the known one, if nothing is remembered, on a standby, and if the namespace is disposable. '
'reached: the addresses by which the caller reaches it, host:port, with blanks between them.';

CREATE OR REPLACE FUNCTION pgflurry.server_to_note(reached text) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $fn$
    SELECT noted.server
    FROM pgflurry.namespace AS n, pgflurry.this_server() AS s (here),
        LATERAL (SELECT coalesce(n.server->'reached', '[]'), to_jsonb(string_to_array(reached, ' ')),
                        n.server->'started' = s.here->'started') AS r (known, now, same_life),
        LATERAL (
            SELECT CASE WHEN r.same_life THEN s.here || n.server ELSE s.here END || jsonb_build_object('reached',
                CASE WHEN r.same_life AND (r.known @> r.now OR jsonb_array_length(r.known) >= 64) THEN r.known
                     -- at each start of the server, addresses that nobody uses any more may make room
                     ELSE (SELECT jsonb_agg(a.address ORDER BY a.place)
                           FROM (SELECT address, min(place) AS place
                                 FROM jsonb_array_elements_text(r.now || r.known) WITH ORDINALITY AS e (address, place)
                                 GROUP BY address ORDER BY 2 LIMIT CASE WHEN r.same_life THEN 64 ELSE 32 END) AS a)
                END)) AS noted (server)
    WHERE reached <> '' AND NOT pg_is_in_recovery() AND n.server IS DISTINCT FROM noted.server
      AND NOT pgflurry.is_new_server(n.server, s.here, reached)
$fn$;
COMMENT ON FUNCTION pgflurry.server_to_note(text) IS
'What the namespace row shall remember of this server, if it remembers something else and the server is not a new one. '
'Else NULL. reached is as in pgflurry.new_server().';

CREATE OR REPLACE FUNCTION pgflurry.note_server(reached text) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET lock_timeout = '500ms' AS $fn$
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    -- a copy that nobody has declared keeps what is known of its original's server
    UPDATE pgflurry.namespace AS n SET server = noted.server
        FROM (SELECT pgflurry.server_to_note(reached)) AS noted (server)
        WHERE noted.server IS NOT NULL AND pgflurry.is_original();
END $fn$;
COMMENT ON FUNCTION pgflurry.note_server(text) IS
'Lets the namespace row remember this server, if pgflurry.server_to_note() says so. '
'A note that is lost is made again. So its transaction waits neither long for a lock nor for a standby.';

CREATE OR REPLACE FUNCTION pgflurry.awaits_recognition() RETURNS boolean
LANGUAGE sql STABLE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $fn$
    SELECT EXISTS (SELECT FROM pgflurry.namespace AS n
                   WHERE n.new_server = 'refuse' AND NOT n.disposable
                     AND n.server->'started' IS DISTINCT FROM to_jsonb(extract(epoch FROM pg_postmaster_start_time())))
$fn$;
COMMENT ON FUNCTION pgflurry.awaits_recognition() IS
'Whether next_snowflake() waits until somebody has recognised the server since its start, by the address: '
'a proxy or "pgflurry migrate up". Only where "namespace set --new-server refuse" was said.';
