// Package upgrade proves "Upgrades" of docs/operations.md: the last release and this program work together.
//
//	16 clients, each of three hosts ──▶ proxy a ─┐
//	                                 ─▶ proxy b ─┼──▶ PostgreSQL, migrated by the old program, then by the new one
//	                                 ─▶ proxy c ─┘
//	                                    restarted one by one: old → new → old
//
// The clients draw, write and reconnect all the time. Each restart of its proxy may end a client's session once, with
// the error for a drain (57P01). Another proxy must serve that client then. No ID comes twice. No statement is lost,
// and none is carried out without an answer.
//
// The old program is built from the commit of the last tag v…. PGFLURRY_TEST_OLD names any other commit.
package upgrade
