package command

import (
	"testing"

	"pgflurry/tests/support/network"
	"pgflurry/tests/support/server"
)

func TestMigrateUpOpensOneConnection(t *testing.T) {
	t.Parallel()
	counted, url := network.Behind(t, server.Database(t))
	run(t, "migrate", "up", "--database", url).is(t, 0)
	if n := counted.Taken(0); n != 1 {
		t.Errorf("up of an empty database opened %d connections, expected 1", n)
	}
	run(t, "migrate", "up", "--database", url).is(t, 0)
	if n := counted.Taken(0); n != 2 {
		t.Errorf("both opened %d connections, expected 2", n)
	}
}
