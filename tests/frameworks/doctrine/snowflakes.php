<?php

// snippet: generator
use Doctrine\ORM\EntityManagerInterface;
use Doctrine\ORM\Id\AbstractIdGenerator;

// Draws 1,000 IDs at once. A service that inserts little draws less, so that its IDs are not older than its rows.
class Snowflakes extends AbstractIdGenerator
{
    private array $drawn = [];

    public function generateId(EntityManagerInterface $manager, $entity)
    {
        if ($this->drawn === []) {
            $this->drawn = $manager->getConnection()->fetchFirstColumn('SELECT * FROM next_snowflakes(1000)');
        }
        return array_shift($this->drawn);
    }
}
// snippet: end
