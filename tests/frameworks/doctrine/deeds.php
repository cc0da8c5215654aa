<?php
// Doctrine ORM over pdo_pgsql.

require 'Doctrine/ORM/autoload.php';
require __DIR__ . '/snowflakes.php';
require __DIR__ . '/models.php';

use Doctrine\DBAL\DriverManager;
use Doctrine\DBAL\Exception\TableNotFoundException;
use Doctrine\ORM\Configuration;
use Doctrine\ORM\EntityManager;
use Doctrine\ORM\Mapping as ORM;
use Doctrine\ORM\Mapping\Driver\AttributeDriver;
use Doctrine\ORM\Tools\SchemaTool;

// The trap of the page.
#[ORM\Entity, ORM\Table(name: 'author')]
class Identity
{
    #[ORM\Id, ORM\Column(type: 'bigint'), ORM\GeneratedValue(strategy: 'IDENTITY')]
    public $id;

    #[ORM\Column(type: 'text')]
    public string $name = 'Ada';
}

function connect(string $database): EntityManager
{
    $configuration = new Configuration();
    $configuration->setMetadataDriverImpl(new AttributeDriver([__DIR__]));
    $configuration->setProxyDir(getenv('FRAMEWORK_SCRATCH') ?: sys_get_temp_dir());
    $configuration->setProxyNamespace('Proxies');
    return new EntityManager(DriverManager::getConnection([
        'driver' => 'pdo_pgsql', 'host' => getenv('PGHOST'), 'port' => getenv('PGPORT'), 'dbname' => $database,
        'user' => getenv('PGUSER'), 'password' => getenv('PGPASSWORD') ?: '', 'sslmode' => 'disable',
    ], $configuration), $configuration);
}

function upgrade(EntityManager $manager): void
{
    // snippet: migrate
    $connection = $manager->getConnection();
    $connection->executeStatement(file_get_contents(getenv('FRAMEWORK_MIGRATION'))); // of "pgflurry migrate print"
    $models = array_map([$manager, 'getClassMetadata'], [Author::class, Book::class]);
    (new SchemaTool($manager))->createSchema($models);
    // snippet: end
}

function migrate(EntityManager $manager): array
{
    upgrade($manager);
    return [];
}

function insert(EntityManager $manager): array
{
    $manager->persist($author = new Identity());
    try {
        $manager->flush();
    } catch (TableNotFoundException $problem) { // and the INSERT is rolled back
        return ['none' => 'IDENTITY reads a sequence that is not there'];
    }
    return ['ids' => [$author->id]];
}

function batch(EntityManager $manager): array
{
    return insert($manager);
}

function ahead(EntityManager $manager): array
{
    $authors = array_map(fn ($n) => new Author("author $n"), range(0, 999));
    array_map([$manager, 'persist'], $authors); // all of them have their IDs now
    $manager->flush();
    return ['ids' => array_column($authors, 'id')];
}

function foreign_key(EntityManager $manager): array
{
    $author = new Author('Ada');
    $author->books->add(new Book($author, 'Notes'));
    $author->books->add(new Book($author, 'Letters'));
    $manager->persist($author);
    $manager->flush();
    return ['ids' => [$author->id, ...$author->books->map(fn ($book) => $book->id)]];
}

function test_database(EntityManager $manager): array
{
    $name = getenv('PGDATABASE') . '_test';
    $manager->getConnection()->executeStatement("CREATE DATABASE $name");
    $test = connect($name);
    upgrade($test);
    $test->persist($author = new Author('Ada'));
    $test->flush();
    $test->getConnection()->close();
    $manager->getConnection()->executeStatement("DROP DATABASE $name");
    return ['result' => 'SchemaTool', 'ids' => [$author->id]];
}

if (($argv[1] ?? '') === 'version') {
    preg_match('/^Version: ([0-9.]+)/m', shell_exec('dpkg -s php-doctrine-orm'), $found);
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
