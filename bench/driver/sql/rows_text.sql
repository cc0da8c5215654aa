COPY bench_rows TO STDOUT;
