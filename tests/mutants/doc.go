// Package mutants takes the guards of the core away, one at a time, and demands that the histories notice.
//
// A mutant is a change of one text in one source file, laid over the real package by the compiler (go test
// -overlay). Nothing in a program that is released can switch a guard off. A text that no longer stands in its
// file exactly once fails the test, and so does a mutant that does not compile. The SQL's guards have their
// mutants in tests/support/rows.
//
//	PGFLURRY_TEST_MUTANTS=1 go test -v ./tests/mutants        prints how soon each died
package mutants
