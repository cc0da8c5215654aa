package upgrade

import (
	"os/exec"
	"strings"
	"testing"

	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

func TestAnOlderProxyInARegionLeasesItsWorkersAlone(t *testing.T) {
	former, commit := oldProgram(t)
	direct := server.Database(t)
	run(t, program.Path(t), "migrate", "up", "--database", direct, "--layout", "datacenter", "--region", "3")
	for _, name := range []string{"a", "b"} {
		program.StartCommand(t, exec.Command(former, program.ServeArgs(t, direct, name)...))
	}
	conn := server.Connect(t, direct)
	const held = "pgflurry.worker WHERE kind = 'proxy' AND owner IS NOT NULL AND released_at IS NULL"
	server.Eventually(t, conn, "(SELECT count(*) FROM "+held+") = 2")
	for _, worker := range server.Values[int](t, conn, "SELECT worker FROM "+held) {
		if worker < 104 || worker > 127 {
			t.Errorf("commit %.12s has leased worker %d, expected one of 104 to 127", commit, worker)
		}
	}
}

func TestAnOlderProxyLeasesNoForeignWorker(t *testing.T) {
	former, commit := oldProgram(t)
	direct := server.Database(t)
	run(t, program.Path(t), "migrate", "up", "--database", direct, "--layout", "41/0/3/12", "--database-workers", "1",
		"--foreign-workers", "0-2,4,6-7")
	program.StartCommand(t, exec.Command(former, program.ServeArgs(t, direct, "former")...))
	conn := server.Connect(t, direct)
	server.Eventually(t, conn, "EXISTS (SELECT FROM pgflurry.worker WHERE kind = 'proxy' AND owner IS NOT NULL)")
	const held = "SELECT worker FROM pgflurry.worker WHERE owner IS NOT NULL ORDER BY 1"
	if got := server.Values[int](t, conn, held); len(got) != 2 || got[0] != 3 || got[1] != 5 {
		t.Errorf("commit %.12s: workers %d are held, expected the function's, 3, and 5", commit, got)
	}
}

func TestADatabaseOfBeforeRegionsStaysWithoutOne(t *testing.T) {
	former, _ := oldProgram(t)
	direct, joined := server.Database(t), server.Database(t)
	run(t, former, "migrate", "up", "--database", direct, "--layout", "datacenter")
	run(t, former, "migrate", "up", "--database", joined, "--join", direct)
	conn := server.Connect(t, direct)
	const row = "SELECT (to_jsonb(n) - '{region,installed_by,function_workers,foreign_workers}'::text[])::text " +
		"FROM pgflurry.namespace n"
	const rows = "SELECT md5(string_agg(w::text, ' ' ORDER BY worker)) FROM pgflurry.worker w"
	before, workers := server.Value[string](t, conn, row), server.Value[string](t, conn, rows)
	for _, url := range []string{direct, joined} {
		run(t, program.Path(t), "migrate", "up", "--database", url)
	}
	if after := server.Value[string](t, conn, row); after != before {
		t.Errorf("the row has become %s; it was %s", after, before)
	}
	if after := server.Value[string](t, conn, rows); after != workers {
		t.Error("the upgrade has changed the workers")
	}
	says := run(t, program.Path(t), "namespace", "check", direct, joined)
	if !strings.Contains(says, "side by side") || !strings.Contains(says, "0 to 1023") {
		t.Errorf("check says\n%s", says)
	}
}
