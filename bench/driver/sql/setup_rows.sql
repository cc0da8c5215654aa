DROP TABLE IF EXISTS bench_rows, bench_copied;
CREATE UNLOGGED TABLE bench_rows AS
	SELECT n AS id, md5(n::text) AS name, now() AS made FROM generate_series(1::bigint, 1000000) n;
CREATE UNLOGGED TABLE bench_copied (LIKE bench_rows);
ANALYZE bench_rows;
