# Ends and removes what a test package has left: on its standard input it reads folders, one a line, until the package
# has ended. That is so also after SIGKILL. $1 is the line by which the environment of the package's programs is known.
mark=$1
set --
while IFS= read -r folder; do set -- "$@" "$folder"; done

programs() {
    grep -lzxF -- "$mark" /proc/[0-9]*/environ 2>/dev/null | tr -dc '0-9\n'
}
# SIGQUIT: PostgreSQL gives its shared memory back, and waits for nobody
for signal in QUIT KILL; do
    tries=0
    while left=$(programs) && [ -n "$left" ] && [ $tries -lt 100 ]; do
        [ $tries -gt 0 ] || kill -$signal $left 2>/dev/null
        sleep 0.1
        tries=$((tries + 1))
    done
done
rm -rf -- "$@"
