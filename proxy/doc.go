// Package proxy is the wire: it relays the PostgreSQL protocol between a client and the upstream, byte for byte, and
// answers the forms of next_snowflake() and next_segment(tag) from memory whenever nobody could tell the difference.
//
//	           startup.go    upstream.go    login.go        session.go: one function, read top to bottom
//	client ──► admit ──────► reach ───────► (log in) ─────► relay, two goroutines ──► end
//	                                        only if it asks
//	                                        for passwords
//
//	           client.go: frame ─ decide ┬─ forward ──────────────► upstream
//	client ──►                           └─ answer.go ─┐
//	       ◄── writer (one whole message at a time) ◄──┴── server.go ◄── upstream
//	                         ledger.go: what upstream still owes, in order
//
// Packages below it read and write frames (frame), do the handshakes of TLS with both sides (pgtls) and say which text is an answered
// form (statement).
//
// The two goroutines of a session never wait for each other, but that the client's may wait for upstream's replies, which need
// nothing from the client (stale.go, "settle"; finished.go; backpressure.go). client.go owns the
// client's read side, the upstream's write side and every decision; server.go owns the upstream's read side. Both write
// to the client, whole messages under one lock. They share the ledger and nothing else.
//
// # When an answer is allowed
//
// Answering is an optimisation: whatever is not plainly allowed is forwarded. All of these hold, in the terms of
// https://www.postgresql.org/docs/current/protocol-flow.html:
//
//  1. The session is no replication session.
//  2. Its database belongs to the namespace (Permission), and the form's function is surely ours.
//  3. Startup is over and every forwarded Query, FunctionCall and Sync has had its ReadyForQuery relayed.
//  4. No extended-query message has been forwarded since the last forwarded Sync: once one message of a segment (all up to
//     its Sync) is forwarded, all of it is. But for what concerns the portal of a unit that was answered (finished.go).
//  5. The last ReadyForQuery said I or T, never E.
//  6. The text is an answered form (statement).
//  7. Result formats: none, one, or one per column; each 0 or 1. Parameters: those the form has, and no others.
//  8. Execute asks for all rows: max_rows is 0, or no less than the rows.
//  9. The generator gives all IDs now, or within 50 ms; all numbers of the tag are there now, or within 200 ms.
//
// From 3 and 4, and from the wait in finished.go, it follows that nothing is owed by upstream when a local reply is written. So
// local replies are never queued, and error-skip, implicit transactions and statements in flight stay PostgreSQL's business.
//
// # Invariants
//
// Each has a test of its name.
//
//  1. Bytes that are not part of an answered unit, of a local Sync or Flush, or of a Describe, Execute or Close of an answered
//     unit's portal (finished.go) reach upstream unchanged, in order. Between them may be messages of the proxy's own (stale.go,
//     pipeline.go) and a Flush.
//  2. Bytes from upstream reach the client unchanged, in order, but for the replies to messages the proxy itself sent, and for
//     SCRAM with channel binding in an offer where it cannot work (binding.go).
//     In 1 and 2 the exchange of a password is left out where the proxy asks for it (login.go).
//  3. The client never sees half a message followed by another one.
//  4. A local reply is written only while upstream owes nothing.
//  5. One Bind draws its IDs once, whatever is executed afterwards.
//  6. No length a peer claims is allocated, but that of a first packet up to 10,004 bytes and of a password up to 64 kB: a frame
//     larger than the buffer is streamed, one above the cap ends the session.
//  7. When a session has ended, no goroutine and no descriptor of it is left.
//  8. The proxy never answers an answered form with an ERROR; its own errors are FATAL and end the session.
//  9. Once TLS is agreed with a peer, nothing that came in plain text is believed, and nothing is said in plain text.
//  10. A password that the proxy asked for is gone from its buffers when it was used, and is sent only where others cannot read it.
//  11. The end of a connection is noticed, also one that comes in one event with the last message: at once, or within a second
//     (frame/blind.go). That of a client is not while relayClient does not read: while it waits for upstream's replies or writes to it.
//     What the client sent before it left is then still to be decided, and to close upstream's connection first would lose it.
//
// # What upstream must not notice
//
// A local answer leaves upstream's unnamed statement and portal different from what the client believes. stale.go lists
// the cases and the message that mends each before it can matter. Nor does upstream know that a pipeline has begun with an answered
// unit: pipeline.go tells it.
package proxy
