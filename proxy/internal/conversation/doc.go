// Package conversation decides who answers a client: the proxy from memory, or PostgreSQL. It does no I/O. The
// client's messages and upstream's replies go in, decisions come out.
//
//	                        ┌─ Answer: Batch or Query says what to write, then AnsweredBatch or AnsweredQuery
//	client's message ─ Hear ┼─ Hold:   it may yet be answered
//	                        └─ Forward: Forwards notes it, and says what upstream must be sent first
//
//	upstream's reply ─ TakeReply: relay or swallow ─ written to the client ─ Relayed
//
// batch.go has what a batch must look like, known.go which statements it may use. ledger.go has what upstream owes, and
// replies.go matches replies with it. unnamed.go has what upstream must be sent in front of the next batch. wait.go
// says when the client has to wait for replies.
//
// # A batch is answered whole or forwarded whole
//
// A batch is a Query, a FunctionCall, or extended-query messages up to and including their Sync. The proxy holds
// extended-query messages back while it may still answer their batch:
//
//	([Parse ""] [Describe statement] Bind(portal "") [Describe portal ""] Execute(portal "") [Close portal ""])+ Sync
//
// At the first message that does not fit, the proxy forwards all that it holds and the rest of the batch. It does the
// same at a Flush, with a full buffer, and when the client's stream ends. Answering is an optimisation: in doubt the
// proxy forwards. It answers a batch if all of these hold, in the terms of
// https://www.postgresql.org/docs/current/protocol-flow.html:
//
//  1. The session is no replication session, and the proxy can match its replies to its batches (below).
//  2. Its database belongs to the namespace, and each name in the form can only mean what is ours, or PostgreSQL's own
//     (Permission).
//  3. Upstream owes nothing: startup is over, and the ReadyForQuery of every forwarded batch has been relayed.
//  4. The last ReadyForQuery said I or T, never E.
//  5. The text of each statement is an answered form (package statement). For a named statement, or one of an earlier
//     batch, the proxy knows the text (known.go). Its Parse stood in a batch without an error, and nothing since then
//     may have replaced or deallocated it.
//  6. There are no result formats, one, or one per column; each is 0 or 1. The parameters are exactly those of the
//     form.
//  7. Execute asks for all rows: max_rows is 0, or at least the number of rows.
//  8. The IDs of the batch come at once, or the first of them within 50 ms (package draw). The numbers of all tags come
//     at once or within 200 ms.
//
// From 3 it follows that a local reply never waits behind another reply. Skipping after an error, implicit transactions
// and statements in flight stay PostgreSQL's business.
//
// When the proxy cannot match replies to batches any more, the session only relays from there on. That happens after:
//
//   - a message that PostgreSQL does not know,
//   - a Query or FunctionCall inside an unfinished batch: upstream owes nothing for it if the batch has failed,
//   - a COPY FROM STDIN by the extended protocol,
//   - another batch that is sent before the data of a Query's COPY FROM STDIN has ended.
package conversation
