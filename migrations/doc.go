// Package migrations makes, checks, describes and removes what pgflurry needs in a database: schema pgflurry with the
// namespace row and the worker rows, and the SQL functions of package sqlfuncs.
//
//	bootstrap    schema pgflurry and its table of applied migrations
//	0000N_….sql  each once, in one transaction with its row in that table
//	sqlfuncs     all functions, every time; which have a name in public the database remembers
//	row          pgflurry.create_namespace(): the namespace row, the worker rows, this database's worker; or join,
//	             or a way out for a copy
//	install      layout and worker written into the function text; aliases in public
//
// Bootstrap and each migration commit by themselves; the last three are one transaction. An Up that was interrupted
// goes on where it stopped. One that refuses to make a namespace takes back what it has made for it. An Up that has
// nothing to do repairs functions that were changed or dropped. Print writes the same as one statement, which may run
// again as Up may.
//
// What holds:
//
//  1. Runs exclude each other: one advisory lock per database is held from the first write to the last. The session
//     that holds it does all the writing, so a session that is lost writes no more.
//  2. A layout never changes: a run that asks for another one fails and says both.
//     Nor does a region. A new one takes UUID and layout from a fingerprint and nowhere else.
//  3. A worker of database functions is given out once, to one database, for good: not even a Down gives it back,
//     because a physical copy of that database cannot be told from it and may go on. A function that leaves it for
//     another one leaves it retired. A namespace founded in a copy begins anew, above the old marks. A claim whose
//     commit may be lost is not used. A home that may have forgotten a claim gives no worker to a database that it does
//     not know, until somebody says that none is forgotten.
//  4. A copy of a database is noticed, and gets functions for its own use only when somebody has said what it is to be
//     (package namespace); it cannot take the place of an original that is still on the server.
//  5. Down removes all or nothing, never with CASCADE, not while an ID could still be ahead of the clock, and not the
//     home of databases that have joined, unless it is told to.
//  6. A function that is not pgflurry's is never overwritten and never dropped, and a call that meant it means it
//     still. Where one stands in the way of next_snowflake() and its family, Up refuses; where one has the name of an
//     alias in public, there is no alias. An alias is dropped by a Down, and by the step to fewer names that
//     somebody orders.
//  7. A program changes nothing in a schema of a later revision than its own. The revision is the number of the last
//     migration. It stands in a function's text and in the record of the migrations; the higher one counts. A
//     release that changes functions alone needs a number, too: its migration holds a comment alone before and
//     behind the Down line.
//  8. A migration that was released stays as it is: the next one adds. After a failure the next run goes on with the
//     one that failed.
//
// It needs PostgreSQL 15 or newer, the right to create in the database and in schema public, and no superuser. Connect
// to the server itself, or through a pooler in session mode: the lock lives as long as the session.
package migrations
