<?php

// snippet: tables
use Illuminate\Database\Migrations\Migration;
use Illuminate\Database\Schema\Blueprint;
use Illuminate\Support\Facades\DB;
use Illuminate\Support\Facades\Schema;

return new class extends Migration
{
    public function up()
    {
        Schema::create('author', function (Blueprint $table) {
            $table->bigInteger('id')->default(DB::raw('next_snowflake()'))->primary();
            $table->text('name');
        });
        Schema::create('book', function (Blueprint $table) {
            $table->bigInteger('id')->default(DB::raw('next_snowflake()'))->primary();
            $table->foreignId('author_id')->constrained('author');
            $table->text('title');
        });
    }
};
// snippet: end
