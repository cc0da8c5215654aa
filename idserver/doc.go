// Package idserver serves sessions that need no PostgreSQL: a client logs in against verifiers that are kept in memory,
// and gets IDs and numbers of tags from the same generator as through the proxy.
//
//	proxy ──► serve.go: startup.go ──► login.go ──► session.go ──► end
//	          (a life)  what it wants  who it is    one goroutine, one client
//	                                   attempts.go
//
//	session.go   reads messages        query.go        a Query: its statements, one after the other
//	extended.go  Parse … Sync          portal.go       a statement that runs: its rows, all or some at a time
//	answer.go    rows of IDs           turns.go        who draws much lets others draw between
//	                                   commands.go     statements that give no rows
//	objects.go   what a client keeps   transaction.go  blocks, savepoints, and what a rollback takes back
//	settings.go  SET and RESET         parameters.go   what values settings have; encoding.go has names of encodings
//	console.go   SHOW                  message.go      the fields of a message
//	errors.go    all that a client is told of what went wrong
//	server.go    what node joins       sessions.go     the sessions there are: places, drain
//	keys.go      of cancel requests    stats.go        what is known of them; counters.go has what is counted
//
// What a text of SQL means is for command to say, which knows no session; what rows of IDs look like for proxy/wire.
//
// # States
//
//	startup ─► login ─► I ◄──────────────────► T            ReadyForQuery's status
//	   │         │      │  BEGIN, COMMIT …     │ an error
//	   ▼         ▼      ▼                      ▼
//	 FATAL     FATAL   end ◄───────────────── E  until COMMIT or ROLLBACK, 25P02
//
// In each of I, T and E an error within an extended-query batch skips all up to its Sync. The statements of one Query,
// and the messages of one batch, are a transaction of their own where none is open, as in PostgreSQL: an error skips
// those that follow. There is nothing else that a rollback could take back but settings: an ID that was given is given.
//
// A session ends when its client says goodbye or leaves, when what it sends cannot be followed (08P01), when it is idle
// for too long (57P05), and in a drain (57P01): at once outside a transaction, otherwise at the end of that, or when
// the drain does not wait any longer.
//
// # Invariants
//
// Each has a test of its name.
//
//  1. Nothing that a client sends goes anywhere else: a session has its client's connection and no other.
//  2. No ID without a grant. Where there is none the statement fails with 57P03, and the session stays.
//  3. An ID is given once. One that was drawn and could not be written is lost.
//  4. No lock is held while a client is waited for.
//  5. What a client can make a session keep is bounded: statements, portals, settings and the bytes of a message.
//  6. Who has not logged in learns nothing of who could: unknown, expired and known names differ in no byte and step.
//  7. Each Query and each Sync has exactly one ReadyForQuery.
//  8. When Serve has returned, the session's place and key are free, and none of its goroutines is left.
//  9. While a session waits for its client it has no buffer, neither for reading nor for replies.
package idserver
