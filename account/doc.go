// Package account knows who may log in to the ID database, the sessions that need no PostgreSQL.
//
//	pgflurry.client ──store.go (read.sql)──┐
//	                                       ├──► List, which never changes ──► idserver: one look at each login
//	--id-auth-file ──file.go───────────────┘
//	"pgflurry clients" ──change.go (*.sql)──► pgflurry.client
//
// A List is what was read at one time. Whoever keeps it replaces it by a newer one every few seconds, and goes on with
// the last one while the database is away. So a change reaches a proxy within those seconds, and sessions that are
// logged in stay.
//
// # Who gets in
//
// A client logs in with SCRAM-SHA-256, or with a certificate that names it. In both cases its name stands in the list,
// and its time is not over: Account.MayLogIn is the one judgement of that. An account without a verifier logs in with
// a certificate alone.
//
// # What a stranger learns
//
// Nothing about which names there are. List.Challenge gives a verifier for any name. For one that may not log in with
// a password it is a mock: its salt is always the same for a name, as a real one is, and no password fits it. It is
// made at each call, also where it is not needed, so that both take the same time. Its number of iterations is that of
// most accounts. So an account with another number can be told from a name that nobody has.
//
// The salts of mocks come from a secret. That of a table is made by the migration, at random, and all proxies read it.
// A file has none that would do. Made from its verifiers, a mock would be a test for passwords that anybody can run
// at home: salt and iterations of a real account are known to all who ask. So the secret of a File is random, and made
// when the program starts. Who compares two proxies, or one before and after a restart, can tell the names in a file
// from others.
//
// # Invariants
//
//  1. A List does not change, and is safe for concurrent use.
//  2. An unknown, an expired and an account without verifier get the same: a mock, which lets nobody in.
//  3. The mock of a name is the same from all processes that have read the same table.
//  4. The table, the file and this package take and refuse the same names and verifiers.
//  5. No error, no log and no listing has a verifier in it, or a line of a file.
package account
