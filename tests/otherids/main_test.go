// Package otherids_test proves, on a real PostgreSQL, what the other ways to make an ID promise: that no committed
// draws are equal, what each does with bad input, and that a role needs nothing but EXECUTE and can damage nothing.
package otherids_test

import (
	"testing"

	"pgflurry/tests/support/program"
)

func TestMain(m *testing.M) { program.Main(m) }
