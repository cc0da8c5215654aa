// Package mutants removes the guards of the core, one at a time. Each time some test must fail.
//
// A mutant changes one text in one source file. The compiler lays it over the real package (go test -overlay), so no
// released program can switch a guard off. The test fails if the text does not stand in its file exactly once, and if
// the mutant does not compile. The guards of the SQL have their mutants in tests/support/rows.
//
// The overlay reaches only what a test links. A test that builds and runs the program has the real one, so the test
// that notices a mutant must be in-process.
//
//	PGFLURRY_TEST_MUTANTS=1 go test -v ./tests/mutants        prints how soon each died
package mutants
