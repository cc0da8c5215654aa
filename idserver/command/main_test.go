package command_test

import (
	"testing"

	"pgflurry/tests/support/server"
)

func TestMain(m *testing.M) { server.Main(m) }
