// Package idserver serves the ID database: sessions that need no PostgreSQL behind them. A client logs in against
// verifiers in memory. It draws IDs in one room (package draw) with the clients of the proxy. Its numbers of tags come
// from the same source as theirs. The proxy hands such a client over by proxy.Inside; package node builds the Server.
//
//	proxy ──► serve.go: startup.go ──► login.go ──► session.go ──► end
//	          (a life)  what it wants  who it is    one goroutine, one client
//	                                   attempts.go
//
//	session.go   reads messages        query.go        a Query: its statements, one after the other
//	extended.go  Parse … Sync          portal.go       a running statement: its rows, all or some at a time
//	answer.go    rows of IDs           commands.go     statements that give no rows
//	objects.go   what a client keeps   transaction.go  blocks, savepoints, and what a rollback undoes
//	settings.go  SET and RESET         parameters.go   the values of settings; encoding.go has names of encodings
//	console.go   SHOW                  message.go      the fields of a message
//	errors.go    all errors that a client can get
//	server.go    Settings and Server   sessions.go     all sessions: places, drain
//	keys.go      for cancel requests   stats.go        values for operators; counters.go has the counters
//
// Package command reads SQL; it knows no sessions. Package proxy/wire writes rows of IDs.
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
// error skips the rest of them. A rollback undoes only settings and cursors: an ID that a client got stays given.
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
//  8. When Serve has returned, the session's place and key are free, and none of its goroutines is left.
//  9. While a session waits for its client it has no buffer, neither for reading nor for replies.
package idserver
