SET LOCAL search_path TO DEFAULT;
SET LOCAL client_min_messages TO DEFAULT;
SET LOCAL lock_timeout TO DEFAULT;
