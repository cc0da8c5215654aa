DROP TABLE IF EXISTS pgflurry_bench_ids, pgflurry_bench_tickets;
