<?php
// PDO with pdo_pgsql. CLIENT_MODE "emulate" lets PDO put the parameters into the text itself.

declare(strict_types=1);

function connected(
    ?string $user = null,
    ?string $password = null,
    string $more = 'sslmode=disable',
    bool $keep = false,
): PDO {
    [$host, $port, $database] = array_map('getenv', ['PGHOST', 'PGPORT', 'PGDATABASE']);
    $place = "pgsql:host=$host;port=$port;dbname=$database;$more";
    return new PDO($place, $user ?? getenv('PGUSER'), $password ?? (getenv('PGPASSWORD') ?: ''), [
        PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION, PDO::ATTR_EMULATE_PREPARES => getenv('CLIENT_MODE') === 'emulate',
        PDO::ATTR_PERSISTENT => $keep,
    ]);
}

// refused returns the error of code that must throw.
function refused(callable $act): mixed
{
    try {
        $act();
    } catch (PDOException $problem) {
        return [$problem->getCode(), $problem->getMessage()];
    }
    return 'no error';
}

function draw(PDO $db): int
{
    return $db->query('SELECT next_snowflake()')->fetchColumn();
}

function login(string $role, string $more = 'sslmode=disable'): array
{
    $user = connected($role, 'right', $more)->query('SELECT current_user')->fetchColumn();
    return [[$user, refused(fn () => connected($role, 'wrong', $more))], []];
}

function unprepared(): array
{
    $statement = connected()->query('SELECT next_snowflake()');
    $meta = $statement->getColumnMeta(0);
    $id = $statement->fetchColumn();
    return [[$meta, gettype($id), $statement->rowCount()], [$id]];
}

function prepared(): array
{
    $db = connected();
    $statement = $db->prepare('SELECT next_snowflake() AS id');
    $ids = [];
    for ($n = 0; $n < 20; $n++) {
        $statement->execute();
        $ids[] = $statement->fetchColumn();
    }
    if (getenv('CLIENT_BARE')) {
        return [null, $ids];
    }
    return [$db->query('SELECT count(*) FROM pg_prepared_statements')->fetchColumn(), $ids];
}

// snippet: begin
// All the IDs in one round trip, then the rows that use them, in one transaction.
function orderWithLines(PDO $db, array $lines): array
{
    $db->beginTransaction();
    $ids = $db->query('SELECT next_snowflake() FROM generate_series(1, ' . count($lines) . ')')
        ->fetchAll(PDO::FETCH_COLUMN);
    $insert = $db->prepare('INSERT INTO item (id, name) VALUES (?, ?)');
    foreach ($lines as $n => $line) {
        $insert->execute([$ids[$n], $line]);
    }
    $db->commit();
    return $ids;
}
// snippet: end

function transaction(): array
{
    $db = connected();
    $ids = orderWithLines($db, ['one', 'two']);
    $count = function (int ...$ids) use ($db): int {
        $marks = implode(', ', array_fill(0, count($ids), '?'));
        $statement = $db->prepare("SELECT count(*) FROM item WHERE id IN ($marks)");
        $statement->execute($ids);
        return $statement->fetchColumn();
    };
    $db->beginTransaction();
    $first = draw($db);
    $inserted = $db->exec("INSERT INTO item (id, name) VALUES ($first, 'gone')");
    $seen = $count($first);
    $db->rollBack();
    [$left, $kept] = [$count($first), $count(...$ids)];
    $db->beginTransaction();
    $zero = refused(fn () => $db->query('SELECT 1/0'));
    $failed = refused(fn () => draw($db));
    $db->rollBack();
    return [[$inserted, $seen, $left, $kept, $zero, $failed], [...$ids, $first, draw($db)]];
}

function commit(): array
{
    $db = connected();
    $failed = null;
    foreach (['commit', 'rollBack', 'rollBack'] as $n => $end) {
        $db->beginTransaction();
        $ids[] = draw($db);
        if ($n === 2) {
            refused(fn () => $db->query('SELECT 1/0'));
            $failed = refused(fn () => draw($db));
        }
        $db->$end();
    }
    return [$failed, [...$ids, draw($db)]];
}

// pool draws on a persistent connection, which PHP keeps when it is given back.
function pool(): array
{
    for ($n = 0; $n < 100; $n++) {
        $db = connected(keep: true);
        $ids[] = draw($db);
        $db = null;
    }
    return [null, $ids];
}

function copies(): array
{
    $db = connected();
    $db->exec('TRUNCATE item');
    $done = $db->pgsqlCopyFromArray('item', ["one\n", "two\n"], "\t", '\\\\N', 'name');
    $out = $db->pgsqlCopyToArray('item', "\t", '\\\\N', 'id, name');
    $rows = array_map(fn ($line) => explode("\t", trim($line)), $out);
    return [[$done, array_column($rows, 1)], [...array_column($rows, 0), draw($db)]];
}

function notify(): array
{
    [$listener, $sender] = [connected(), connected()];
    $listener->exec('LISTEN news');
    $id = draw($listener);
    $sender->exec("NOTIFY news, 'hello'");
    $heard = $listener->pgsqlGetNotify(PDO::FETCH_ASSOC, 60000);
    return [[$heard['message'], $heard['payload']], [$id]];
}

function byDefault(): array
{
    $insert = connected()->prepare('INSERT INTO item (name) VALUES (?) RETURNING id');
    $insert->execute(['new']);
    return [$insert->rowCount(), [$insert->fetchColumn()]];
}

// parallel draws in four processes: PHP has no threads.
function parallel(): array
{
    $readers = [];
    for ($child = 0; $child < 4; $child++) {
        [$reader, $writer] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
        if (pcntl_fork() === 0) {
            fclose($reader);
            $db = connected();
            for ($n = 0; $n < 1000; $n++) {
                fwrite($writer, draw($db) . "\n");
            }
            exit;
        }
        fclose($writer);
        $readers[] = $reader;
    }
    $all = implode('', array_map('stream_get_contents', $readers));
    while (pcntl_wait($status) > 0);
    return [null, explode("\n", trim($all))];
}

if ($argc > 1) {
    echo phpversion('pdo_pgsql'), "\n";
    exit(extension_loaded('pdo_pgsql') ? 0 : 1);
}
$deeds = [
    'password' => fn () => login('client_password'),
    'scram' => fn () => login(getenv('CLIENT_ROLE')),
    'tls' => fn () => login(getenv('CLIENT_ROLE'), 'sslmode=verify-full;sslrootcert=' . getenv('CLIENT_CA')),
    'unprepared' => 'unprepared', 'prepared' => 'prepared', 'pipeline' => null, 'mixed' => null,
    'transaction' => 'transaction', 'commit' => 'commit', 'copy' => 'copies', 'notify' => 'notify', 'cancel' => null,
    'default' => 'byDefault', 'pool' => 'pool', 'parallel' => 'parallel',
];
$asked = explode(' ', getenv('CLIENT_DEEDS'));
foreach (array_intersect_key($deeds, array_flip($asked)) as $deed => $act) {
    $line = ['deed' => $deed];
    try {
        if ($act === null) {
            $line['none'] = $deed === 'cancel' ? 'PDO cannot cancel' : 'PDO has no batches';
        } else {
            [$line['result'], $ids] = $act();
            $line['ids'] = array_map('strval', $ids);
        }
    } catch (Throwable $problem) {
        $line = ['deed' => $deed, 'error' => (string) $problem, 'sqlstate' => (string) $problem->getCode()];
    }
    echo json_encode($line, JSON_THROW_ON_ERROR), "\n";
}
