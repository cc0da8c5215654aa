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
// Runs exclude each other (package session). Whatever an operator decides of a namespace is package namespace/decide.
// What holds here:
//
//  1. Down removes all or nothing, and never uses CASCADE. It refuses while an ID could still be ahead of the clock. It
//     also refuses to remove the home of databases that have joined, unless its caller asks for that.
//  2. A function that is not pgflurry's is never overwritten and never dropped, and a call that meant it still means
//     it. If one stands in the way of next_snowflake() and its family, Up refuses. If one has the name of an alias in
//     public, Up makes no alias. Only Down drops an alias, or an Up with which the operator asks for fewer names.
//  3. A program changes nothing in a schema of a later revision than its own. The revision is the number of the last
//     migration. It stands in a function's text and in the record of the migrations; the higher one counts. A release
//     that changes functions alone needs a number, too: its migration has only a comment before and after the Down
//     line.
//  4. A migration that was released stays as it is: the next one adds. After a failure the next run continues with the
//     one that failed.
//
// It needs PostgreSQL 15 or newer, the right to create in the database and in schema public, and no superuser. Connect
// to the server itself, or through a pooler in session mode: the lock lives as long as the session.
package migrations
