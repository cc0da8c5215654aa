// Package frameworks runs the migration tools and object mappers that applications use,
// directly against PostgreSQL and through the proxy.
//
// A framework's program stands in a folder of its own and speaks as package deeds says. Its page in docs/frameworks
// quotes files of that folder: a comment there, <!-- FILE snippet NAME -->, names the lines between "snippet: NAME" and
// "snippet: end". The tests call the program once for each deed, so each deed is a process of its own:
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
// Programs of Node do one more deed, traps. Its result says for each warning on their page whether it is true.
//
// The environment names the server in PGHOST, PGPORT, PGDATABASE, PGUSER (a superuser without a password) and
// PGSSLMODE=disable. FRAMEWORK_SCRATCH is a folder for files that the framework writes. It is empty at first, and the
// same for all deeds of one database.
//
// The tests compare what migrate made with what "pgflurry migrate up" makes, and look for the rows of each other deed.
// They also count the statements that PostgreSQL ran for each deed, by pg_stat_statements: those that insert, those
// that draw, and others that touch the tables. A statement that is executed a thousand times counts a thousand, in one
// round trip or in many.
//
// With the flag -update the tests write the table of docs/clients.md, and the code into docs/frameworks. Without it
// they compare both.
package frameworks
