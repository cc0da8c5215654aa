\cd :folder
\copy pgflurry_bench.many TO 'many.txt'
