// Package otherids_test proves, on a real PostgreSQL, what the other ways to make an ID promise. No committed draws are
// equal, bad input does what it should, and a role needs nothing but EXECUTE and can damage nothing.
package otherids_test

import (
	"testing"

	"pgflurry/tests/support/program"
)

func TestMain(m *testing.M) { program.Main(m) }
