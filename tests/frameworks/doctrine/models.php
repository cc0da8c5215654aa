<?php

use Doctrine\Common\Collections\ArrayCollection;
use Doctrine\Common\Collections\Collection;
use Doctrine\ORM\Mapping as ORM;

// snippet: model
#[ORM\Entity, ORM\Table(name: 'author')]
class Author
{
    #[ORM\Id, ORM\Column(type: 'bigint', columnDefinition: 'bigint DEFAULT next_snowflake() NOT NULL')]
    #[ORM\GeneratedValue(strategy: 'CUSTOM'), ORM\CustomIdGenerator(class: Snowflakes::class)]
    public $id;

    #[ORM\OneToMany(targetEntity: Book::class, mappedBy: 'author', cascade: ['persist'])]
    public Collection $books;

    public function __construct(#[ORM\Column(type: 'text')] public string $name)
    {
        $this->books = new ArrayCollection();
    }
}
// snippet: end

#[ORM\Entity, ORM\Table(name: 'book')]
class Book
{
    #[ORM\Id, ORM\Column(type: 'bigint', columnDefinition: 'bigint DEFAULT next_snowflake() NOT NULL')]
    #[ORM\GeneratedValue(strategy: 'CUSTOM'), ORM\CustomIdGenerator(class: Snowflakes::class)]
    public $id;

    public function __construct(
        // snippet: join
        #[ORM\ManyToOne(targetEntity: Author::class, inversedBy: 'books')]
        #[ORM\JoinColumn(nullable: false, columnDefinition: 'bigint NOT NULL')]
        public Author $author,
        // snippet: end
        #[ORM\Column(type: 'text')]
        public string $title,
    ) {
    }
}
