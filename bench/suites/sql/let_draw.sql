-- Anybody may draw, so that clients need not be superusers.
GRANT USAGE ON SCHEMA pgflurry_bench TO PUBLIC;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA pgflurry_bench TO PUBLIC;
