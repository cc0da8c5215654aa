// Package connect opens connections to PostgreSQL: from the strings that people give, over files that may hang, and so
// that none is ever old.
//
// A connection leads to the server at which it was opened, however long it lives. Its address may lead elsewhere by
// then: a balancer, a name or a pooler has switched. Clients' new sessions are at the other server. Who asks over the
// old connection believes a server that clients have left. So no connection is kept for long.
//
//	age          0 ──────────── 20..30 s ────────────▶
//	Get returns  the same one │ the login succeeds: the new one; the old one is closed
//	                          │ the login fails, and that says nothing: the old one, at most 10 minutes more
//	                          │ a server answers and refuses: none; the old one is closed at once
//	                          ▲
//	suspicion ────────────────┘ does the same at any age
//
// Packages acknowledge and node keep their connections this way: for leases, looks, blocks of numbers, accounts.
//
//	kept.go       one connection: Get, Broken, Close
//	rules.go      what the connections of a process share: the limits, the clock, the log
//	login.go      one login, which goes on when its caller has given up
//	pace.go       how many logins a second               suspicion.go  an event that makes all connections old
//	answer.go     what a failed login says               failure.go    the same in one sentence for people
//	asker.go      questions over such a connection; the one place that opens those of the process
//	open.go       the one session of a command
//	hosts.go      a connection to one of several hosts   sleep.go      the pause between two questions
//	parse.go      a connection string, and what is wrong with it
//	files.go      refuses files that would keep it from its end; foreign.go knows parameters of other libraries
//	secret.go     keeps passwords out of every message, wherever people put them; password.go compares strings
//	file.go       a file that people name: neither a pipe, a device nor a hung mount keeps the caller waiting
//
// No message repeats a part of a string that may be a password. An error about a file is an fs.PathError, so that a
// caller may leave out the name: a connection string may stand in its place.
//
// # What a failed login says
//
// Only an answer says where the address leads. An answer is an error with an SQLSTATE. These SQLSTATEs are no answer,
// because the server at the other end may be the old one:
//
//	53…            too many connections, and other scarcity
//	57P01…57P03    it starts, or stops
//	08…            a pooler has no server
//	28P01          a wrong password; it may have been changed on the old server
//
// A refused connection and a time-out are no answer either. A full server or a changed password must not become an
// outage. So the old connection is used on, for a limited time, and the log has a warning. Logins are tried again with
// growing pauses.
//
// # How many logins
//
// A login costs PostgreSQL a new process. Those that replace a connection have a common pace: two a second, after the
// first four. A connection that has to wait for its login is used on. The first login of a connection does not wait,
// nor does one after a loss: there is nothing to use meanwhile.
//
// A suspicion may come as often as it likes. It makes connections old, but the pace stays.
//
// # Slow logins
//
// What is slow is not gone. A connection has one login under way at most. It goes on when its caller has no more time,
// and the next call waits for it. Its limit is 5 s, and doubles up to 30 s with each that took too long. A login that
// succeeds after a failure raises a suspicion: who waits before it tries again does so now.
//
// # Invariants
//
// Each has a test of its name.
//
//  1. A connection older than its limit is replaced at its next use, unless the pace or a failed login forbids it.
//  2. The new connection is open before the old one is closed, and the caller never has both.
//  3. A failed login without an answer leaves the old connection in use, and never for longer than Rules.Grace.
//  4. An answer that refuses ends the old connection at once.
//  5. Logins that replace connections keep the pace, however many suspicions come.
//  6. A suspicion makes each connection old whose login began before it.
//
// A login has a goroutine, which has ended when Close returns. One goroutine uses a Kept; Pace and Suspicion are safe
// for concurrent use.
package connect
