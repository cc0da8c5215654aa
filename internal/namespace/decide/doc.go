// Package decide is what an operator decides of a namespace: which one a database belongs to, and the settings that
// change while IDs are drawn. Package namespace reads the row; this package writes it.
//
//	OwnRow          found     an ID space of its own, in an empty database
//	                join      another database of an ID space, with a worker that its home gives
//	                separate  a copy becomes an ID space of its own
//	                move      a copy takes the place of its original
//	SetWindows, SetRestart, SetNewServer, CompleteJoins, TakeFreshWorker, OpenGate
//	Close           no more IDs, before a move in which the original lives on
//
// Package migrations calls them in the one order that the proof rests on, within the lock of the session. Commands call
// Close and OpenGate themselves.
//
// What holds:
//
//  1. A layout never changes: who asks for another one gets an error with both. The same holds for a region, and for
//     whom a worker is for. A new region takes its UUID, layout and shares from a fingerprint and nowhere else.
//  2. A worker of database functions is given out once, to one database, for good. If a function leaves its worker for
//     another one, the old worker stays retired. A namespace founded in a copy begins anew, above the old marks. A
//     claim whose commit may be lost is not used. A home that may have forgotten a claim gives no worker to an unknown
//     database, until the operator says that none is forgotten.
//  3. A copy gets functions for its own use only after the operator has said what it shall be. It takes the place of
//     its original only if no other database draws the same IDs. That is seen on this server, or else it is the
//     operator's word. Of the copies on one server only one takes the place. A closed database draws again only when it
//     takes its own place so.
package decide
