-- Every role may draw from the sequences, so the clients of the benchmark need not be superusers.
GRANT USAGE ON SCHEMA pgflurry_bench TO PUBLIC;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA pgflurry_bench TO PUBLIC;
