// Package pgtls does TLS as PostgreSQL's protocol has it, on both sides of a proxy. Packages proxy and idserver use it
// for connections, package node for the settings.
//
//	client ──► client.go: ReadHello, then ──► conn.go ◄── upstream.go: Negotiate ──► upstream
//	           Accept or AcceptDirect    (SameCertificate?)    certificate.go: libpq's rules
//
// The only message that it reads is the answer to its own SSLRequest. It knows nothing of sessions and of the errors
// that clients see, and it reads no files.
package pgtls
