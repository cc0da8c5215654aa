package command

import (
	"strings"
	"testing"

	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

func TestMaxWindowIsRaisedAndLoweredWithWordsThatSayWhatItCosts(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	upstream := server.Parse(t, direct).Host
	serve := []string{
		"serve", "--listen", "127.0.0.1:0", "--upstream", upstream, "--lease-database", direct, "--window", "1h",
	}
	up := func(maxWindow string) ended {
		return run(t, "namespace", "set", "--database", direct, "--max-window", maxWindow)
	}
	says := func(e ended, texts ...string) {
		t.Helper()
		e.is(t, 0)
		for _, text := range texts {
			if !strings.Contains(e.out, text) {
				t.Errorf("it does not say %q:\n%s", text, e.out)
			}
		}
	}
	run(t, serve...).is(t, 2, "max_window is 1m0s", "namespace set --database URL --max-window 1h0m0s")
	up("25h").is(t, 2, "--max-window is 25h0m0s; expected 1s to 24h0m0s")
	up("0.5s").is(t, 2, "--max-window is 500ms")

	const raised = "a worker whose proxy crashed rests for up to 2h0m6s"
	for range 2 {
		says(up("1h"), raised, "windows", "skew 2s, quarantine 1h0m4s")
	}
	says(run(t, "migrate", "status", "--database", direct, "--json"),
		`"max_window_seconds": 3600`, `"quarantine_seconds": 3604`)

	p := program.Serve(t, direct, "long", "--window", "1h")
	p.Line("worker acquired", "window=1h0m0s")
	conn := server.Connect(t, direct)
	// as a holder whose window has grown
	server.Do(t, conn, "UPDATE pgflurry.worker SET reserved_until = pgflurry.ticks(clock_timestamp() + '50 min') "+
		"WHERE node = 'long'")
	says(up("1m"), "proxies may reserve 1m0s ahead", "the quarantine stays 1h0m4s, because longer grants may be in use",
		"run the same again after 1h0m4s")
}
