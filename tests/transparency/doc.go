// Package transparency tests that nobody notices the proxy: replication, what comes unasked, cancellation, the ends of
// sessions, COPY, negotiation of the protocol, and clients and servers that do not read.
//
// Whatever the proxy passes on is compared with what PostgreSQL itself says to the same bytes. Where no PostgreSQL
// would behave as the test needs it (a key of 256 bytes, none at all, a server that closes one direction), a scripted
// upstream does (upstream_test.go).
//
// Package wire compares whole conversations; here are the things around them.
package transparency
