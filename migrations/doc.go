// Package migrations makes, checks, describes and removes what pgflurry needs in a database. That is schema pgflurry
// with the namespace row and the worker rows, and the SQL functions of package sqlfuncs.
//
//	bootstrap    schema pgflurry and its table of applied migrations
//	0000N_….sql  each once, in one transaction with its row in that table
//	sqlfuncs     all functions, every time; which have a name in public the database remembers
//	row          pgflurry.create_namespace(): the namespace row, the worker rows, this database's worker; or join,
//	             or a way out for a copy
//	install      layout and worker written into the function text; aliases in public
//
// The command "pgflurry migrate" runs it: Up, Down, Status, Print.
//
// Bootstrap and each migration commit by themselves; the last three steps are one transaction. If Up is interrupted,
// the next Up continues where it stopped. If Up refuses to make a namespace, it removes what it has made for it. If
// nothing is missing, Up repairs functions that were changed or dropped. Print writes the same work as one statement,
// which may also run again.
//
// What holds:
//
//  1. Runs exclude each other. One session holds one advisory lock per database from the first write to the last, and
//     does all the writing. If the session is lost, it writes no more.
//  2. A layout never changes: a run that asks for another one fails and says both. The same holds for a region, and for
//     whom a worker is for. A new region takes its UUID, layout and shares from a fingerprint and nowhere else.
//  3. A worker of database functions is given out once, to one database, for good. Even Down does not give it back,
//     because a physical copy of that database may go on with it, and nothing tells the two apart. If a function leaves
//     its worker for another one, the old worker stays retired. A namespace founded in a copy begins anew, above the
//     old marks. A claim whose commit may be lost is not used. A home that may have forgotten a claim gives no worker
//     to an unknown database, until the operator says that none is forgotten.
//  4. A copy of a database is noticed (package namespace). It gets functions for its own use only after the operator
//     has said what it shall be. It takes the place of its original only if no other database draws the same IDs. That
//     is seen on this server, or else it is the operator's word. Of the copies on one server only one takes the place.
//     A closed database draws again only when it takes its own place so.
//  5. Down removes all or nothing, and never uses CASCADE. It refuses while an ID could still be ahead of the clock. It
//     also refuses to remove the home of databases that have joined, unless its caller asks for that.
//  6. A function that is not pgflurry's is never overwritten and never dropped, and a call that meant it still means
//     it. If one stands in the way of next_snowflake() and its family, Up refuses. If one has the name of an alias in
//     public, Up makes no alias. Only Down drops an alias, or an Up with which the operator asks for fewer names.
//  7. A program changes nothing in a schema of a later revision than its own. The revision is the number of the last
//     migration. It stands in a function's text and in the record of the migrations; the higher one counts. A release
//     that changes functions alone needs a number, too: its migration has only a comment before and after the Down
//     line.
//  8. A migration that was released stays as it is: the next one adds. After a failure the next run continues with the
//     one that failed.
//
// It needs PostgreSQL 15 or newer, the right to create in the database and in schema public, and no superuser. Connect
// to the server itself, or through a pooler in session mode: the lock lives as long as the session.
package migrations
