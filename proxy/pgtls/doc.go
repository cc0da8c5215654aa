// Package pgtls is TLS as PostgreSQL's protocol has it, on both sides of a proxy.
//
//	client ──► client.go: ReadHello, then ──► conn.go ◄── upstream.go: Negotiate ──► upstream
//	           Accept or AcceptDirect    (SameCertificate?)    certificate.go: libpq's rules
//
// It reads no message but the answer to its own SSLRequest, knows nothing of sessions and of what a client is told of
// an error, and reads no files.
package pgtls
