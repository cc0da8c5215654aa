package command_test

import (
	"flag"
	"os"
	"testing"

	"pgflurry/tests/support/server"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if flag.Lookup("test.fuzzworker").Value.String() == "true" { // it only reads texts, and needs no server
		os.Exit(m.Run())
	}
	server.Main(m)
}
