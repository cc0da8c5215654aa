REPLACE INTO pgflurry_bench_tickets (stub) VALUES ('a');
