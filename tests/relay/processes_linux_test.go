package relay

import (
	"io"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"pgflurry/tests/support/server"
)

// A postmaster that can start no process says so in the words of protocol 2. libpq shows them.
func TestAServerThatCannotStartAProcessIsHeard(t *testing.T) {
	cluster := server.Private(t, nil)
	direct := cluster.URL("postgres")
	at, _ := through(t, direct)
	limit := exec.Command("prlimit", "--pid="+strconv.Itoa(cluster.PID), "--nproc=1:")
	limit.SysProcAttr = server.AsOwner(t, cluster.Data)
	if out, err := limit.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var said [2]string
	for i, url := range []string{direct, at} {
		r := dial(t, server.Parse(t, url).Host)
		r.say(hello(version30, "user", "postgres"))
		all, err := io.ReadAll(r.in)
		said[i] = string(all)
		if err != nil && said[i] == "" { // PostgreSQL leaves the startup packet unread, so the end may be a reset
			t.Fatal(err)
		}
	}
	if !strings.HasPrefix(said[0], "Ecould not fork") || said[0] != said[1] {
		t.Errorf("PostgreSQL says %q, and through the proxy %q", said[0], said[1])
	}
	out, err := exec.Command(server.Tool(t, "psql"), "-XAtc", "SELECT 1", at).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "could not fork new process for connection") {
		t.Errorf("psql says %q (%v)", out, err)
	}
}
