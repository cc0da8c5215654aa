package serve

import (
	"strings"
	"testing"

	"pgflurry/tests/support/network"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

func TestALeaseDatabaseThatFallsSilentIsNamedInOneSentence(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	link, lease := network.To(t, direct)
	p := program.Serve(t, direct, "cause", "--lease-database", lease, "--window", "2s")
	link.Silence()
	line := p.Line("no IDs are left")
	if want := `cannot connect to ` + link.Address() + "/" + server.Name(t, direct) +
		` as \"postgres\": no answer in time"`; !strings.HasSuffix(line, want) {
		t.Errorf("the log says\n%s\nand was expected to end with\n%s", line, want)
	}
}
