-- Time in ticks: whole units since the namespace's epoch. The lease's statements and the migrations use it. Bodies are
-- parsed when they are installed, so the search_path of a caller does not matter.

CREATE OR REPLACE FUNCTION pgflurry.ticks(at timestamptz) RETURNS bigint
LANGUAGE sql STABLE STRICT PARALLEL SAFE
RETURN (SELECT floor((extract(epoch FROM at) - extract(epoch FROM n.epoch)) / extract(epoch FROM n.unit))::bigint
        FROM pgflurry.namespace AS n);

COMMENT ON FUNCTION pgflurry.ticks(timestamptz) IS
'The tick that holds an instant: whole units since the epoch of the namespace, rounded down. '
'Negative before the epoch. NULL for NULL, and where the namespace row is missing.';

CREATE OR REPLACE FUNCTION pgflurry.ticks_of(length interval) RETURNS bigint
LANGUAGE sql STABLE STRICT PARALLEL SAFE
RETURN (SELECT ceil(extract(epoch FROM length) / extract(epoch FROM n.unit))::bigint FROM pgflurry.namespace AS n);

COMMENT ON FUNCTION pgflurry.ticks_of(interval) IS
'How many ticks an interval needs: its length in units, rounded up. '
'NULL for NULL, and where the namespace row is missing.';

CREATE OR REPLACE FUNCTION pgflurry.lag_limit() RETURNS bigint
LANGUAGE sql STABLE PARALLEL SAFE
RETURN (SELECT 20 / (extract(epoch FROM n.unit) * 1000)::bigint FROM pgflurry.namespace AS n);

COMMENT ON FUNCTION pgflurry.lag_limit() IS
'How many ticks a draw of next_snowflake() may be behind the clock: 20 ms, in whole ticks. A draw is so old only while '
'another session starts a tick. The text of next_snowflake() has this number, and snowflake_settled() subtracts it.';

CREATE OR REPLACE FUNCTION pgflurry.next_generation(generation bigint) RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $fn$
BEGIN
    RETURN greatest(generation + 1, pgflurry.ticks(clock_timestamp()));
END $fn$;

COMMENT ON FUNCTION pgflurry.next_generation(bigint) IS
'The generation after this one: above it, and at least the tick of the clock. So a server that was set back '
'does not repeat one that it had before.';
