// Package meter tells what faults cost: how long a service was away, what was given meanwhile, which acknowledged
// commits are gone, and what a client saw. It measures nothing by itself. Clients tell it what happened, and when.
//
// A fault lasts from Mark to Settled. Everything between is counted for it. Faults of one kind make one row.
//
//  1. The time without a service is the longest time between two successes that follow one another. It begins with
//     the last success before the fault, so a fault that stops a service at once is measured from there. Of several
//     places of a service, each fault counts the one that was without it for longest.
//  2. A service that has not come back when a fault is over is told as such, and its time runs on to that moment.
//  3. IDs were given during an outage if their statement began after the reference's last success and ended before
//     its next one.
//  4. A commit is acknowledged only if nothing else was said: a notice is no clean acknowledgement, and an error
//     that ends the session leaves open what happened. Only a clean one that is missing afterwards is lost.
//  5. A lost commit is counted once.
package meter
