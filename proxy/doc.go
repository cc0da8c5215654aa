// Package proxy relays the PostgreSQL protocol between clients and a PostgreSQL server, the upstream, byte for byte. It
// answers the known forms of next_snowflake() and next_segment(tag) from memory, but only where no client can notice
// the difference. Package node builds the Proxy for `pgflurry serve`, and gives it IDs, permissions and the present
// primary.
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
// Package conversation decides: answer, hold or forward. It has the conditions, by their numbers.
//
// A client of the ID database leaves this path after admit. inside.go hands it to Settings.Inside, which needs no
// upstream.
//
// # Upstream
//
// Upstream is one host or several (hosts.go). Connections go to the first host of the list that accepts them. With
// Settings.Primary they go to the one host that is the primary now. dialer.go connects to one host. A cancel request
// goes to the host of its session (cancel.go).
//
// # Goroutines
//
// A session has two goroutines:
//
//   - The client's (client.go: requests) reads the client, writes to upstream and makes every decision.
//   - Upstream's (replies.go: replies) reads upstream.
//
// They share the ends (end.go): both connections, the conversation, and why the session is over. Both write to the
// client, whole messages under one lock. Neither waits for the other, with two exceptions. The client's goroutine waits
// while upstream owes thousands of batches, or a thousand before the login is over. It also waits for the fate of a
// Query that may copy in, before it sends what must not become part of that copy (conversation/unnamed.go).
//
// A write to the client may wait for ever, and the other goroutine may wait for its lock. So a timer looks at a write
// that waits (frame.Writer.GiveUp). It ends the write if upstream has ended and the client takes nothing.
//
// # Limits and rules
//
// A connection keeps the rules under which it was accepted. Change (rules.go) sets new rules for later connections
// only. Until upstream has authenticated a client, these files limit what the client can use up. For a client of the ID
// database they do so until it has logged in.
//
//   - Package admission has all limits on clients that have not logged in, and those on connections to upstream. It
//     decides which of them gives way to which newcomer. limits.go turns them away.
//   - handshake.go limits the TLS handshakes.
//   - unproven*.go keep out clients that a Unix socket of upstream takes for the proxy's own account.
//   - cancel_relay.go passes on packets that begin no session, such as cancel requests.
//
// # The end
//
// Drain (proxy.go) ends all sessions. If another process takes over the listening socket, the caller first closes the
// listener and calls Settle. Then each accepted connection becomes a session, or ends. The next process accepts those
// that still wait in the socket. Among them may be cancel requests: PostgreSQL made their keys, so any proxy can pass
// them on.
//
// # Statistics, and the packages below
//
// counters.go has the values for operators and the counters behind them, and stats.go adds them up. decline.go says why
// a statement was not answered, errors.go why the proxy itself ends a session.
//
//   - conversation decides who answers.
//   - admission decides who gives way before the login.
//   - frame reads and writes messages.
//   - wire knows what the messages are.
//   - statement knows which text is an answered form.
//   - frontend has the sessions, their counters, and why they ended.
//   - scram exchanges passwords.
//   - pgtls does TLS on both sides.
//
// # Invariants
//
// Each has a test of its name.
//
//  1. Bytes outside answered batches reach upstream unchanged and in order. The proxy may send messages of its own in
//     front of a batch (conversation/unnamed.go), never within one.
//  2. Bytes from upstream reach the client unchanged and in order, with two exceptions. The proxy swallows replies to
//     its own messages, and it removes SCRAM with channel binding from an offer where it cannot work
//     (channelbinding.go). 1 and 2 leave out the password exchange where the proxy asks for the password (login.go).
//  3. The client never sees half a message followed by another one.
//  4. A local reply is written only while upstream owes nothing.
//  5. One Bind draws its IDs once.
//  6. The proxy allocates no length that a peer claims. The exceptions are a first packet up to 10,004 bytes and a
//     password up to 64 kB. It streams a frame larger than the buffer. One above the cap ends the session.
//  7. When a session has ended, no goroutine and no descriptor of it is left.
//  8. The proxy never answers an answered form with an ERROR. Its own errors are FATAL and end the session.
//  9. Once TLS is agreed with a peer, the proxy believes nothing that came in plain text, and says nothing in plain
//     text.
//  10. A password that the proxy asked for is gone from its buffers after use. It is sent only where others cannot read
//     it.
//  11. The proxy notices the end of a connection at once, even if it comes in one event with the last message. The
//     exception is the end of a client while relayClient does not read. It does not while it waits for replies (see
//     Goroutines), or while upstream or the client takes nothing more. Then the proxy still has to decide about what
//     the client sent before it left.
//  12. A session ends when its host is not the primary any more, whatever its client does. From then on nothing more
//     reaches that host, and the proxy keeps no connection of its own to it.
//  13. No write to a client keeps the session from learning that upstream has ended: rows or answers, in TLS or not. A
//     client that then takes nothing for deafTime loses the rest. The proxy learns of the end from the kernel (Linux).
package proxy
