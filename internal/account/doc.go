// Package account says which clients may log in to the ID database. The proxy answers sessions of the ID database
// without PostgreSQL.
//
//	pgflurry.client ──store.go─────────────┐
//	                                       ├──► List, which never changes ──► Reader ──► idserver
//	--id-auth-file ──file.go───────────────┘
//	"pgflurry clients" ──change.go──► pgflurry.client
//
// A List holds the accounts as they were read at one time. A Reader replaces it by a newer one every few seconds. It
// keeps the last one while the database is away. So a change reaches a proxy within seconds. Sessions that are logged
// in stay, unless their account is gone.
//
// # Who gets in
//
// A client logs in with SCRAM-SHA-256, or with a certificate that names it. In both cases the list must have its name,
// and the account must not have expired. Account.MayLogIn alone decides that. An account without a verifier logs in
// only with a certificate.
//
// # What a stranger learns
//
// A stranger cannot find out which names exist. List.Challenge gives a verifier for any name. If the name may not log
// in with a password, that verifier is a mock: no password fits it. Like the salt of a real account, its salt never
// changes for a name. Each call computes the mock, even when it is not needed, so both cases take the same time.
//
// A mock has the number of iterations that most accounts have. So a stranger can recognise an account whose number
// differs.
//
// The salts of mocks come from a secret. The migration makes the secret of the table, at random, and all proxies read
// it. A file has no such secret. One computed from its verifiers would let anybody test passwords offline, because
// every stranger can ask for the salt and the iterations of an account. So a File makes a random secret when the
// program starts. A stranger who compares two proxies, or one proxy before and after a restart, can therefore find out
// the names in a file.
//
// # Invariants
//
//  1. A List does not change, and is safe for concurrent use.
//  2. An unknown account, an expired one and one without a verifier get the same: a mock, which lets nobody in.
//  3. The mock of a name is the same from all processes that have read the same table.
//  4. The table, the file and this package take and refuse the same names and verifiers.
//  5. No error, no log and no listing contains a verifier or a line of a file.
//
// The caller starts Reader.Run in a goroutine, ends it through its context, and waits for it.
package account
