// Package doctor looks at a PostgreSQL server from outside, and says which promises of pgflurry hold on it. A user runs
// it on servers that nobody else can reach: managed ones, and those that sleep.
//
//	facts.go      what the server says, each fact by a question of its own: a refusal is a fact, too
//	provider.go   whose server it is, as far as it shows
//	marker.go     the one thing that it writes: an unlogged sequence, before a restart or a failover
//	judge.go      what the facts mean: one check a row
//	compare.go    what has happened between two looks
//
// Numbered invariants:
//
//  1. Look and the checks only read. Mark writes one unlogged sequence, public.pgflurry_doctor, and Unmark drops it.
//  2. A role that lacks a right gets an answer, which names the right.
//  3. What cannot be known is "not known", never "ok".
package doctor
