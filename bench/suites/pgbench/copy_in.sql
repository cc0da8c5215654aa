\cd :folder
TRUNCATE pgflurry_bench.copied;
\copy pgflurry_bench.copied FROM 'many.txt'
