// Package unique proves on real servers that no ID comes twice. Every ID of proxies, functions, ID databases and open
// sessions is compared.
//
//	*_test.go            processes, networks and servers fail. A storm brings all faults in random order
//	switch_*_test.go     a server changes behind its address, or goes back in time. Each of these gave IDs twice once
//	copy_*_test.go       the rows of the tables "What to run" of docs/copies.md. A test
//	                     brings the row about, and nobody draws before somebody has said what the database is. It then
//	                     runs the commands as they stand in the table
//	known_bad*_test.go   a usual way to number workers gives an ID twice, and pgflurry does not in the same story
//
// The bad ways are those found in practice, reduced to the part that fails, and their clock belongs to the story. The
// same exact set of IDs (tests/support/recorder) judges both sides.
package unique
