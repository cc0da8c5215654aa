INSERT INTO pgflurry_bench.rows (id, payload) SELECT id, repeat('x', 64) FROM unnest($1::bigint[]) AS drawn (id);
