TRUNCATE bench_copied;
