-- Removes what the other files made. No CASCADE: whatever still uses a function keeps everything in place.
DROP FUNCTION IF EXISTS public.next_snowflakes(bigint);
DROP FUNCTION IF EXISTS public.next_snowflake();
DROP FUNCTION IF EXISTS pgflurry.advance(bigint);
DROP SEQUENCE IF EXISTS pgflurry.lane;
DROP FUNCTION IF EXISTS public.snowflake_parts(bigint);
DROP FUNCTION IF EXISTS public.snowflake_time(bigint);
DROP FUNCTION IF EXISTS public.snowflake_worker(bigint);
DROP FUNCTION IF EXISTS public.snowflake_sequence(bigint);
DROP FUNCTION IF EXISTS public.snowflake_floor(timestamptz);
DROP FUNCTION IF EXISTS public.snowflake_ceil(timestamptz);
DROP PROCEDURE IF EXISTS pgflurry.install_decode();
DROP PROCEDURE IF EXISTS pgflurry.install_next_snowflake();
DROP PROCEDURE IF EXISTS pgflurry.create_namespace(uuid, integer, integer, integer, integer, timestamptz, interval, integer, integer, text);
DROP FUNCTION IF EXISTS pgflurry.ticks_of(interval);
DROP FUNCTION IF EXISTS pgflurry.ticks(timestamptz);
DROP FUNCTION IF EXISTS pgflurry.system_identifier();
DROP FUNCTION IF EXISTS pgflurry.wal_timeline();
