// Package upgrade proves docs/upgrade.md: the program of the last release and this one work together.
//
//	16 clients, each of three hosts ──▶ proxy a ─┐
//	                                 ─▶ proxy b ─┼──▶ PostgreSQL, migrated by the old program, then by the new one
//	                                 ─▶ proxy c ─┘
//	                                    restarted one by one: old → new → old
//
// The clients draw, write and reconnect all the time. A client may be sent away once each time its proxy restarts, with
// the farewell that says so (57P01), and must then be served by another one. No ID comes twice. No statement is lost,
// and none is carried out unheard.
//
// The old program is built from a commit: that of the last tag v…; while there is none, the last commit. With
// PGFLURRY_TEST_OLD it is any other one.
package upgrade
