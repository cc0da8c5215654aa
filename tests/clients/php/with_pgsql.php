<?php
// PHP's extension pgsql connects and draws an ID. With the argument "types" it names types.
if (($argv[1] ?? '') === 'version') {
    echo phpversion('pgsql'), "\n";
    exit;
}
$connection = pg_connect('');
$drawn = pg_query($connection, 'SELECT next_snowflake()');
if (($argv[1] ?? '') === 'types') {
    $others = pg_query($connection, 'SELECT now(), 1+1, version()');
    $names = array_map(fn ($column) => pg_field_type($others, $column), [0, 1, 2]);
    echo implode(' ', [pg_field_type($drawn, 0), ...$names]), "\n";
    exit;
}
pg_field_type($drawn, 0); // asks for the names of all types
echo json_encode(['deed' => 'unprepared', 'ids' => [pg_fetch_result($drawn, 0, 0)]]), "\n";
