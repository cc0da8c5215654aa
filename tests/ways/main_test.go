// Package ways_test proves, on a real PostgreSQL, what the other ways to make an ID promise: that no committed draws are equal,
// what each does with bad input, and that a role needs nothing but EXECUTE and can damage nothing.
package ways_test

import (
	"os"
	"testing"

	"pgflurry/tests/program"
	"pgflurry/tests/server"
)

func TestMain(m *testing.M) {
	code := server.Run(m)
	program.Remove()
	os.Exit(code)
}
