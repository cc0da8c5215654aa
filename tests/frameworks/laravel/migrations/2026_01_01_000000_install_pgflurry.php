<?php

// snippet: pgflurry
use Illuminate\Database\Migrations\Migration;
use Illuminate\Support\Facades\DB;

return new class extends Migration
{
    public function up()
    {
        DB::unprepared(file_get_contents(getenv('FRAMEWORK_MIGRATION'))); // what "pgflurry migrate print" wrote
    }
};
// snippet: end
