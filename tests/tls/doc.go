// Package tls tests TLS and logging in with real certificates, a PostgreSQL with ssl=on, and real clients. The clients
// are psql, pgx, and JDBC if PGFLURRY_TEST_CLIENTS asks for it.
//
// combinations_test.go checks the table of logins in docs/network.md, row by row. Where the other side has to
// misbehave, the tests of package proxy script it.
package tls
