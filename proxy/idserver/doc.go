// Package idserver serves the ID database: sessions that need no PostgreSQL behind them. A client logs in against
// verifiers in memory. It draws IDs from one queue (package draw) with the clients of the proxy. Its numbers of tags
// come from the same source as theirs. The proxy hands such a client over by proxy.Inside; package node builds the
// Server.
//
//	proxy ──► serve.go ──► admit.go ──────────────► loop.go ──► engine.go, run.go ──► answer.go
//	          a life       startup.go: its options   reads       runs statements       draws, writes rows
//	                       login.go: who it is        messages    over package state    replies.go
//
// The front door has all clients. It knows nothing of statements:
//
//	server.go    Settings and Server; rules.go has what may change meanwhile
//	session.go   a client in the register: who it is, and why it ends
//	slots.go     how many may be logged in          sessions.go  drain; the end of those whose account is removed
//	keys.go      for cancel requests                stats.go     values for operators; counters.go has the counters
//
// Behind it a loop serves one client. It has the client's connection, its user, and where to draw. It knows nothing of
// other clients:
//
//	console.go   SHOW                               seen.go      what others see of a session
//	errors.go    errors that end a session or refuse a login
//
// Below idserver nothing does I/O. Package command reads SQL. Package state has what a session keeps, and runs what
// needs no ID. Package wire writes rows of IDs. attempts.go limits wrong passwords. SHOW LEASE, WORKERS and VERSION are
// tables of the node (internal/node/id_console.go).
//
// # States
//
//	startup ─► login ─► I ◄──────────────────► T            ReadyForQuery's status
//	   │         │      │  BEGIN, COMMIT …     │ an error
//	   ▼         ▼      ▼                      ▼
//	 FATAL     FATAL   end ◄───────────────── E  until COMMIT or ROLLBACK, 25P02
//
// In each of I, T and E, an error within an extended-query batch skips everything up to its Sync. Without an open
// block, the statements of one Query are a transaction, and so are the messages of one batch. As in PostgreSQL, an
// error skips the rest of them. A rollback undoes only cursors and SET LOCAL: an ID that a client got stays given.
//
// A session ends
//
//   - when its client sends Terminate or leaves,
//   - when it cannot follow what the client sends (08P01),
//   - when it is idle for too long (57P05), or its client reads nothing for too long,
//   - in a drain (57P01): at once outside a transaction, otherwise when the transaction or the drain's time is over.
//
// # Invariants
//
// Each has a test of its name.
//
//  1. Nothing that a client sends goes anywhere else: a session has its client's connection and no other.
//  2. No ID without a grant. If there is no grant, the statement fails with 57P03, and the session stays.
//  3. An ID is given once. One that was drawn and could not be written is lost.
//  4. The server holds no lock while it waits for a client.
//  5. What a client can make a session keep is limited: statements, portals, settings, and the bytes of a message and
//     of a row. So is the time for which a reply may wait for its client.
//  6. A client that has not logged in learns nothing about who could. For unknown, expired and known names, all bytes
//     and all steps are the same.
//  7. Each Query and each Sync has exactly one ReadyForQuery.
//  8. When Serve has returned, the session's slot and key are free, and none of its goroutines is left.
//  9. While a session waits for its client it has no buffer, neither for reading nor for replies.
package idserver
