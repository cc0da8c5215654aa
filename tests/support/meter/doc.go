// Package meter computes what faults cost. How long was a service away, and how many IDs came meanwhile? Which
// acknowledged commits are lost, and what did a client see? It measures nothing by itself: clients report to it what
// happened, and when.
//
// A fault lasts from Mark to Settled, and everything between counts for it. Faults of one kind share a row.
//
//  1. The time without a service is the longest time between two consecutive successes. It begins with the last success
//     before the fault, so it includes a fault that stops a service at once. If a service has several places, each
//     fault counts the place with the longest time.
//  2. If a service has not come back when a fault is over, the report says so. Its time runs on to that moment.
//  3. IDs were given during an outage if their statement began after the reference's last success and ended before its
//     next one.
//  4. A commit is acknowledged only if the server said nothing else. A notice is no clean acknowledgement, and after an
//     error that ends the session the outcome is open. Only a commit with a clean acknowledgement that is missing
//     afterwards is lost.
//  5. A lost commit counts once.
package meter
