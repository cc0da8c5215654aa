SET LOCAL search_path TO DEFAULT;
