-- Removes what the other files made. No CASCADE: whatever still uses a function keeps everything in place.
-- What is in public goes first, because it uses the rest.
CALL pgflurry.drop_public();
DROP FUNCTION IF EXISTS pgflurry.advance(bigint);
DROP SEQUENCE IF EXISTS pgflurry.lane;
DROP FUNCTION IF EXISTS pgflurry.next_segment(text);
DROP FUNCTION IF EXISTS pgflurry.next_segments(text, bigint);
DROP FUNCTION IF EXISTS pgflurry.take_segment(text, text, bigint);
DROP PROCEDURE IF EXISTS pgflurry.install_decode();
DROP PROCEDURE IF EXISTS pgflurry.install_next_snowflake();
DROP PROCEDURE IF EXISTS pgflurry.create_namespace(uuid, integer, integer, integer, integer, timestamptz, interval, integer, integer, text);
DROP FUNCTION IF EXISTS pgflurry.ticks_of(interval);
DROP FUNCTION IF EXISTS pgflurry.ticks(timestamptz);
DROP FUNCTION IF EXISTS pgflurry.system_identifier();
DROP FUNCTION IF EXISTS pgflurry.wal_timeline();
DROP FUNCTION IF EXISTS pgflurry.snowflake_text(bigint, integer);
DROP FUNCTION IF EXISTS pgflurry.uuidv4();
DROP FUNCTION IF EXISTS pgflurry.uuidv7();
DROP FUNCTION IF EXISTS pgflurry.uuidv7_time(uuid);
DROP PROCEDURE IF EXISTS pgflurry.drop_public();
DROP PROCEDURE IF EXISTS pgflurry.install_aliases();
DROP PROCEDURE IF EXISTS pgflurry.refuse_foreign();
DROP FUNCTION IF EXISTS pgflurry.kept_names();
DROP FUNCTION IF EXISTS pgflurry.foreign_functions();
DROP FUNCTION IF EXISTS pgflurry.alias_body(oid);
DROP FUNCTION IF EXISTS pgflurry.alias_names();
DROP FUNCTION IF EXISTS pgflurry.snowflake_family();
