<?php
// Eloquent over pdo_pgsql, with the migrations of Laravel.

require 'Illuminate/Database/autoload.php';
require 'Illuminate/Events/autoload.php';
require 'Illuminate/Filesystem/autoload.php';
require __DIR__ . '/models.php';

use Illuminate\Container\Container;
use Illuminate\Database\Capsule\Manager;
use Illuminate\Database\Migrations\DatabaseMigrationRepository;
use Illuminate\Database\Migrations\Migrator;
use Illuminate\Events\Dispatcher;
use Illuminate\Filesystem\Filesystem;
use Illuminate\Support\Facades\DB;
use Illuminate\Support\Facades\Facade;
use Illuminate\Support\Facades\Schema;

// What a Laravel application does by itself. The rest of the address comes from PGHOST and its like.
function connect(string $database): Manager
{
    $app = new Container();
    $manager = new Manager($app);
    $manager->addConnection([
        'driver' => 'pgsql', 'host' => getenv('PGHOST'), 'port' => getenv('PGPORT'), 'database' => $database,
        'username' => getenv('PGUSER'), 'password' => getenv('PGPASSWORD') ?: '', 'sslmode' => 'disable',
    ]);
    $manager->setEventDispatcher(new Dispatcher($app));
    $manager->bootEloquent();
    $app->instance('db', $manager->getDatabaseManager());
    Facade::clearResolvedInstances();
    Facade::setFacadeApplication($app);
    return $manager;
}

function upgrade(Manager $manager): void
{
    $databases = $manager->getDatabaseManager();
    $done = new DatabaseMigrationRepository($databases, 'migrations');
    $done->createRepository();
    (new Migrator($done, $databases, new Filesystem()))->run([__DIR__ . '/migrations']);
}

function migrate(Manager $manager): array
{
    upgrade($manager);
    return [];
}

function insert(): array
{
    return ['ids' => [Author::create(['name' => 'Ada'])->id]];
}

function batch(): array
{
    $names = array_map(fn ($n) => "author $n", range(0, 999));
    // snippet: batch
    $rows = implode(', ', array_fill(0, count($names), '(?)'));
    $ids = array_column(DB::select("INSERT INTO author (name) VALUES $rows RETURNING id", $names), 'id');
    // snippet: end
    return ['ids' => $ids];
}

// snippet: draw
// IDs before there are rows. The proxy answers this statement from memory.
function draw(int $number): array
{
    return array_column(DB::select("SELECT * FROM next_snowflakes($number)"), 'next_snowflakes');
}
// snippet: end

function ahead(): array
{
    // snippet: ahead
    $ids = draw(1000);
    Author::insert(array_map(fn ($id) => ['id' => $id, 'name' => "author of $id"], $ids));
    // snippet: end
    return ['ids' => $ids];
}

function foreign_key(): array
{
    $ids = DB::transaction(function () {
        $author = Author::create(['name' => 'Ada']);
        $books = $author->books()->createMany([['title' => 'Notes'], ['title' => 'Letters']]);
        return [$author->id, ...$books->pluck('id')];
    });
    return ['ids' => $ids];
}

function test_database(Manager $manager): array
{
    $name = getenv('PGDATABASE') . '_test';
    $manager->getConnection()->statement("CREATE DATABASE $name");
    $test = connect($name);
    upgrade($test);
    $author = Author::create(['name' => 'Ada']);
    attach($author);
    $test->getConnection()->disconnect();
    connect('postgres')->getConnection()->statement("DROP DATABASE $name");
    return ['result' => 'migrate', 'ids' => [$author->id]];
}

// The page says that attach() leaves the key of the pivot table's row to the DEFAULT.
function attach(Author $author): void
{
    Schema::create('pen_name', function ($table) {
        $table->bigInteger('id')->default(DB::raw('next_snowflake()'))->primary();
        $table->bigInteger('author_id');
        $table->bigInteger('other_id');
    });
    $author->belongsToMany(Author::class, 'pen_name', 'author_id', 'other_id')->attach($author);
    if (DB::table('pen_name')->where('id', '>', $author->id)->count() !== 1) {
        throw new Exception('attach() made no row with an ID');
    }
}

if (($argv[1] ?? '') === 'version') {
    preg_match('/^Version: ([0-9.]+)/m', shell_exec('dpkg -s php-illuminate-database'), $found);
    echo $found[1], "\n";
    exit;
}
$deed = getenv('CLIENT_DEEDS');
try {
    $line = $deed(connect(getenv('PGDATABASE')));
} catch (Throwable $problem) {
    $line = ['error' => get_class($problem) . ': ' . $problem->getMessage()];
}
if (isset($line['ids'])) {
    $line['ids'] = array_map('strval', $line['ids']);
}
echo json_encode(['deed' => $deed] + $line), "\n";
