COPY bench_copied FROM STDIN;
