// Package proxy is the wire: it relays the PostgreSQL protocol between a client and the upstream, byte for byte. It
// answers the forms of next_snowflake() and next_segment(tag) from memory whenever nobody could tell the difference.
//
//	           startup.go    upstream.go    login.go        session.go: one function, read top to bottom
//	client ──► admit ──────► reach ───────► (log in) ─────► relay, two goroutines ──► end
//	           limits.go     pgtls/         only if it asks
//	                                        for passwords
//
//	           client.go: frame ─ hear ┬─ forward ──────────────► upstream
//	client ──►                         └─ answer.go ─┐
//	       ◄── one whole message at a time ◄─────────┴── replies.go ◄── upstream
//
//	conversation.go decides: batch.go what a batch must look like, known.go which statements it may use,
//	ledger.go what upstream owes, unnamed.go what upstream must be sent in front of the next batch. It does no I/O.
//
// A client of a database that needs no upstream leaves behind admit: inside.go hands it over. It is bound until it has
// logged in.
//
// What a connection is held to stays the same until its end, even if Change (rules.go) has new rules for others.
//
// Upstream is one host or several (upstream.go): the first of a list that takes the connection, or the one that reigns.
// Whoever knows that tells it by Settings.Reign. way.go leads to one host. A request to cancel a statement goes to the
// host of its session (cancel.go).
//
// Until upstream has let a client in, limits.go bounds what it can take. crowd.go says who gives way to whom,
// places.go who gets a connection to upstream, handshake.go who may begin TLS. A packet that begins no session is
// passed on by once.go.
//
// Drain (proxy.go) ends sessions. If the listening socket goes on to another process, settle.go comes before it: the
// listener is closed first, and those that were accepted become sessions. What waits in the socket is the next
// process's. That includes cancel requests, which it passes on just as well: their keys are PostgreSQL's.
//
// The two goroutines of a session share the conversation and the way to the client. They never wait for each other,
// except that the client's waits when upstream owes thousands of batches. client.go owns the client's read side, the
// upstream's write side and every decision; replies.go owns the upstream's read side. Both write to the client, whole
// messages under one lock.
//
// What operators are told: stats.go is the value, counters.go what it is made of, decline.go why a statement was not
// answered, reason.go why a session ended.
//
// The rooms below: frame reads and writes messages, wire knows what they are, statement knows which text is an answered
// form, origin where a client comes from, tally what operators are told that clients do, scram is the exchange of
// passwords, pgtls is TLS on both sides.
//
// # A batch is answered whole or forwarded whole
//
// A batch is a Query, a FunctionCall, or extended-query messages up to and including their Sync. Extended-query
// messages are held while their batch may still be answered:
//
//	([Parse ""] [Describe statement] Bind(portal "") [Describe portal ""] Execute(portal "") [Close portal ""])+ Sync
//
// All that is held is forwarded, and the rest of the batch with it, at the first message that does not fit, a Flush, a
// full buffer or the end of the client's stream. Answering is an optimisation: whatever is not plainly allowed is
// forwarded. All of these hold, in the terms of https://www.postgresql.org/docs/current/protocol-flow.html:
//
//  1. The session is no replication session, and its replies can be told apart (below).
//  2. Its database belongs to the namespace (Permission), and the form's function is surely ours.
//  3. Upstream owes nothing: startup is over, and every batch that was forwarded has had its ReadyForQuery relayed.
//  4. The last ReadyForQuery said I or T, never E.
//  5. The text of each statement is an answered form (package statement). That of a named or an earlier statement is
//     known: its Parse stood in a batch that had no error, and nothing since then may have replaced or deallocated it
//     (known.go).
//  6. Result formats: none, one, or one per column; each 0 or 1. Parameters: those the form has, and no others.
//  7. Execute asks for all rows: max_rows is 0, or no less than the rows.
//  8. The generator gives all IDs of the batch now, or within 50 ms; all numbers of the tags are there now, or within
//     200 ms.
//
// From 3 it follows that local replies are never queued, and that error-skip, implicit transactions and statements in
// flight stay PostgreSQL's business.
//
// Where replies cannot be told apart the session only relays from there on. That is so behind:
//
//   - a message that PostgreSQL does not know,
//   - a Query or FunctionCall inside an unfinished batch, which is skipped and owed nothing if the batch has failed,
//   - a copy-in by the extended protocol,
//   - anything that is sent while a Query copies in.
//
// # Invariants
//
// Each has a test of its name.
//
//  1. Bytes that are not part of an answered batch reach upstream unchanged, in order. In front of a batch may be
//     messages of the proxy's own (unnamed.go), never within one.
//  2. Bytes from upstream reach the client unchanged, in order, but for the replies to messages the proxy itself sent,
//     and for SCRAM with channel binding in an offer where it cannot work (channelbinding.go). In 1 and 2 the exchange
//     of a password is left out where the proxy asks for it (login.go).
//  3. The client never sees half a message followed by another one.
//  4. A local reply is written only while upstream owes nothing.
//  5. One Bind draws its IDs once.
//  6. No length a peer claims is allocated, but that of a first packet up to 10,004 bytes and of a password up to 64
//     kB: a frame larger than the buffer is streamed, one above the cap ends the session.
//  7. When a session has ended, no goroutine and no descriptor of it is left.
//  8. The proxy never answers an answered form with an ERROR; its own errors are FATAL and end the session.
//  9. Once TLS is agreed with a peer, nothing that came in plain text is believed, and nothing is said in plain text.
//  10. A password that the proxy asked for is gone from its buffers when it was used, and is sent only where others
//     cannot read it.
//  11. The end of a connection is noticed at once, also one that comes in one event with the last message. That of a
//     client is not while relayClient does not read: while it is thousands of batches ahead, or while upstream or the
//     client takes nothing more. What the client sent before it left is then still to be decided.
//  12. A session ends with the reign of its host, whatever its client does. From then on nothing more reaches that
//     host, and none of the proxy's own connections to it is left.
package proxy
