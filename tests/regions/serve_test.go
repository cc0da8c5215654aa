package regions

import (
	"strings"
	"testing"

	"pgflurry/migrations"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

// drawn draws IDs one by one, in a form that a proxy answers, and counts them by worker.
func drawn(t testing.TB, url string) map[int]int {
	t.Helper()
	conn := server.Connect(t, url)
	workers := map[int]int{}
	for range 100 {
		workers[int(server.Value[int64](t, conn, "SELECT next_snowflake()")>>12&1023)]++
	}
	return workers
}

func TestProxiesOfARegionLeaseItsWorkersAlone(t *testing.T) {
	t.Parallel()
	home, _ := founded(t, 3)
	for i, more := range [][]string{nil, {"--datacenter", "3"}, nil} {
		p := program.Serve(t, home, "node"+string(rune('a'+i)), more...)
		for worker := range drawn(t, p.URL) {
			if worker < 104 || worker > 127 {
				t.Errorf("with %q it gives IDs of worker %d, expected one of 104 to 127", more, worker)
			}
		}
	}
	code, out, errs := run(t, "workers", "list", "--database", home)
	if code != 0 || !strings.Contains(out, "region 3: workers 96 to 127") ||
		!strings.Contains(out, "21 workers for proxies and 7 for functions were never used") {
		t.Errorf("workers list: exit code %d\n%s%s", code, out, errs)
	}
	code, _, errs = run(t, "workers", "retire", "5", "--database", home)
	if code != 2 || !strings.Contains(errs, "there is no worker 5: this database has workers 96 to 127") {
		t.Errorf("workers retire 5: exit code %d: %s", code, errs)
	}
}

func TestServeInARegionRefusesAnotherDatacenter(t *testing.T) {
	t.Parallel()
	home, _ := founded(t, 3)
	p := program.Start(t, "serve", "--listen", "127.0.0.1:0", "--upstream", "127.0.0.1:1", "--lease-database", home,
		"--datacenter", "4")
	if code := p.End(); code != 2 {
		t.Errorf("exit code %d", code)
	}
	for _, text := range []string{
		"--datacenter is 4", "region 3 of its ID space", "workers 96 to 127", "Leave --datacenter out",
	} {
		if !strings.Contains(p.Output(), text) {
			t.Errorf("no %q in:\n%s", text, p.Output())
		}
	}
}

func TestTheSmallestRegionHasAProxyAndTellsTheNextThatItIsFull(t *testing.T) {
	t.Parallel()
	url := server.MigratedWith(t, migrations.Settings{Layout: "41/9/1/12", Region: number(511)})
	p := program.Serve(t, url, "only")
	if workers := drawn(t, p.URL); len(workers) != 1 || workers[1023] == 0 {
		t.Errorf("the proxy gives IDs of %v, expected worker 1023", workers)
	}
	next := program.ServeUnleased(t, url, "next")
	next.Line("no worker is free: 1 workers")
	if workers := drawn(t, next.URL); workers[1022] != 100 {
		t.Errorf("without a worker of its own it gives IDs of %v, expected those of the function, 1022", workers)
	}
}

func TestShowPrintsTheFingerprintWithWhichAnotherRegionIsMade(t *testing.T) {
	t.Parallel()
	home := server.Database(t)
	code, _, errs := run(t, "migrate", "up", "--database", home, "--layout", "datacenter", "--region", "0")
	if code != 0 {
		t.Fatalf("up: exit code %d: %s", code, errs)
	}
	_, out, _ := run(t, "namespace", "show", "--database", home)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	fingerprint := lines[len(lines)-1]
	if !strings.HasPrefix(fingerprint, "pgf1_") || !strings.Contains(out, "0 to 31") {
		t.Fatalf("show prints\n%s", out)
	}
	other := server.Database(t)
	code, out, errs = run(t, "namespace", "join", "--database", other, "--region", "1", "--namespace", fingerprint)
	if code != 0 || !strings.Contains(out, "workers 32 to 63 of 0 to 1023") {
		t.Errorf("up: exit code %d: %s%s", code, out, errs)
	}
	code, _, errs = run(t, "namespace", "join", "--database", other, "--region", "1", "--namespace", fingerprint[:80])
	if code != 2 || !strings.Contains(errs, "--namespace: the fingerprint is not usable") {
		t.Errorf("half of a fingerprint: exit code %d: %s", code, errs)
	}
	if c := check(t, home, other); !c.MayCoexist {
		t.Errorf("they collide: %+v", c)
	}
	plain := server.Migrated(t)
	if _, out, _ := run(t, "namespace", "show", "--database", plain); !strings.Contains(out, "without regions") ||
		!strings.Contains(out, "_whole_") {
		t.Errorf("an ID space without regions is shown as\n%s", out)
	}
	script := server.Database(t)
	_, sql, _ := run(t, "migrate", "print", "--region", "2", "--namespace", fingerprint)
	server.Exec(t, script, "BEGIN; "+sql+"; COMMIT")
	if seen := seenAt(t, script); seen.Fingerprint().String() != fingerprint || *seen.Region != 2 {
		t.Errorf("the printed script has made %+v", seen)
	}
}
