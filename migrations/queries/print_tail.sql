SET LOCAL search_path TO DEFAULT;
SET LOCAL client_min_messages TO DEFAULT;
