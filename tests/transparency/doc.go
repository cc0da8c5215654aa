// Package transparency tests that nobody notices the proxy. Its subjects are replication, asynchronous messages,
// cancellation, the ends of sessions, COPY, protocol negotiation, and clients and servers that do not read.
//
// The tests compare everything that the proxy passes on with PostgreSQL's own answer to the same bytes. Some tests need
// what no PostgreSQL does: a key of 256 bytes, no key at all, a server that closes one direction. There a scripted
// upstream stands in (upstream_test.go).
//
// Package wire compares whole conversations. The tests here are about the things around them.
package transparency
