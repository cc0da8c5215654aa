SELECT (date_part('epoch', clock_timestamp()) * 1000)::bigint << 22 | nextval('pgflurry_bench.ids') % 4096;
