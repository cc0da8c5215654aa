// Package relay tests that nobody notices the proxy. Its subjects are replication, asynchronous messages, cancellation,
// the ends of sessions, COPY, protocol negotiation, and clients and servers that do not read.
//
//	*_test.go           everything that the proxy passes on is compared with PostgreSQL's own answer to the same bytes
//	hosts_*_test.go     several real servers stand behind a proxy: a primary and its standby, which fail over; servers
//	                    of other clusters, or that refuse connections, or hang
//	strangers_test.go   connections by the thousand that never log in: does an ordinary client notice them, and what
//	                    do they cost
//
// Some tests need what no PostgreSQL does: a key of 256 bytes, no key at all, a server that closes one direction. There
// a scripted upstream stands in (upstream_test.go).
//
// Package wire compares whole conversations. The tests here are about the things around them.
package relay
