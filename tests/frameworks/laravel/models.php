<?php

use Illuminate\Database\Eloquent\Model;

// The key needs no word: the DEFAULT makes it, and Eloquent reads it with RETURNING.
class Author extends Model
{
    protected $table = 'author';
    protected $guarded = [];
    public $timestamps = false;

    public function books()
    {
        return $this->hasMany(Book::class);
    }
}

class Book extends Model
{
    protected $table = 'book';
    protected $guarded = [];
    public $timestamps = false;
}
