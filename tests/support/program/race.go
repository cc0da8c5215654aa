//go:build race

package program

// The product under test is built as the test is.
var buildFlags = []string{"-race"}
