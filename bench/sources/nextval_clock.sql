SELECT (date_part('epoch', clock_timestamp()) * 1000)::bigint << 22 | nextval('bench_ids') % 4096;
