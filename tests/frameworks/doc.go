// Package frameworks runs the migration tools and object mappers that applications use,
// directly against PostgreSQL and through the proxy.
//
// A framework's program stands in a folder of its own and speaks as package deeds says. Its file section.md is its part
// of docs/frameworks.md. {{snippet "FILE" "NAME"}} there quotes the lines between "snippet: NAME" and "snippet: end" of
// a file in the folder, and {{file "FILE"}} quotes all of it. The harness calls the program once for each deed, so each
// is a process of its own:
//
//	migrate        the framework's own migration tool, in an EMPTY database: it runs the text of FRAMEWORK_MIGRATION,
//	               which "pgflurry migrate print" wrote, and then makes the tables. No IDs. A tool that splits a
//	               text at semicolons takes FRAMEWORK_ESCAPED, which was written with --escaped.
//	insert         one author, whose key the DEFAULT makes and the framework gives back: its ID
//	batch          1,000 authors in the framework's way to write many, keys by DEFAULT and given back: 1,000 IDs
//	ahead          1,000 authors again, with IDs that were drawn by next_snowflake() or next_snowflakes(n) first
//	foreign_key    an author and two books in one transaction: the author's ID, then those of the books
//	test_database  the framework's own way to make a database for tests, and an author there without further ado. The
//	               program drops that database. The result is the way, in a word; the ID is that author's.
//
// The tables have these columns, and may have more. Each key's DEFAULT is next_snowflake().
//
//	author (id bigint PRIMARY KEY, name text or varchar)
//	book   (id bigint PRIMARY KEY, author_id bigint REFERENCES author, title text or varchar)
//
// Programs of Node do one deed more, traps, whose result says of each warning in their section whether it is so.
//
// The environment names the server in PGHOST, PGPORT, PGDATABASE, PGUSER (a superuser without a password) and
// PGSSLMODE=disable. FRAMEWORK_SCRATCH is a folder for what the framework writes. It is the same for all deeds of one
// database, and empty at first.
//
// The harness looks whether migrate made what "pgflurry migrate up" makes, and after each other deed whether the rows
// are there. It counts the statements of each deed that PostgreSQL ran, by pg_stat_statements: those that insert, those
// that draw, and others that touch the tables. Of a statement that is executed a thousand times, in one round trip or
// in many, it counts a thousand.
//
// With the flag -update the test writes docs/frameworks.md; without it that page is compared.
package frameworks
