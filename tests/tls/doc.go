// Package tls tests TLS and logging in with real certificates, a real PostgreSQL with ssl=on, and real clients: psql,
// pgx, and JDBC where PGFLURRY_TEST_CLIENTS asks for it.
//
// combinations_test.go holds docs/tls.md's table of which logins work, line by line. Where the other side has to
// misbehave, the tests of package proxy script it.
package tls
