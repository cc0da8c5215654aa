package command

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"pgflurry/migrations"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

// A server that has just started may be an old copy of its files.
func TestAfterARestartNoWorkerAndNoJoinIsGivenUntilItIsSettledOrTheOperatorSaysThatNothingIsForgotten(t *testing.T) {
	t.Parallel()
	server.Binaries(t)
	before := server.Private(t, nil)
	run(t, "migrate", "up", "--database", before.URL("postgres")).is(t, 0)
	server.Stop(t, before)
	home := server.Again(t, before.Data, 0).URL("postgres")
	joined := server.In(t, home, "joined")
	server.Exec(t, home, "CREATE DATABASE joined")
	says := func(e ended, texts ...string) {
		t.Helper()
		e.is(t, 0)
		for _, text := range texts {
			if !strings.Contains(e.out, text) {
				t.Errorf("it does not say %q:\n%s", text, e.out)
			}
		}
	}
	says(run(t, "migrate", "status", "--database", home),
		"after a restart", "1m4s", "the server has just started: no worker is granted for another", "joins  ")
	run(t, "namespace", "join", "--database", joined, "--home", home).
		is(t, 1, "was failed over, restarted, restored or reseeded", "--joins-complete")

	says(run(t, "namespace", "set", "--database", home, "--restart-quarantine", "0s"),
		"a start of this server keeps no worker back")
	program.Serve(t, home, "at once").Line("worker acquired")
	run(t, "namespace", "join", "--database", joined, "--home", home).is(t, 0)
	run(t, "namespace", "set", "--database", joined, "--restart-quarantine", "0s").
		is(t, 1, "--restart-quarantine is the namespace's", "with the URL of the home")
	run(t, "namespace", "set", "--database", joined, "--home", home, "--restart-quarantine", "0s").
		is(t, 2, "the home has the other settings")

	says(run(t, "namespace", "set", "--database", home, "--restart-quarantine", "90s"),
		"1m30s", "the server has just started")
	says(run(t, "migrate", "status", "--database", home, "--json"),
		`"restart_quarantine_seconds": 90`, `"settles_in_seconds": `, `"joins_closed": true`)
	says(run(t, "namespace", "set", "--database", home, "--restart-quarantine", "default"), "1m4s")
	up := []string{"namespace", "set", "--database", home, "--restart-quarantine"}
	run(t, append(up, "-1s")...).is(t, 2, "expected a duration such as 0s")
	run(t, append(up, "9000h")...).is(t, 2, "expected 0s to 8784h")
}

// Why an orderly restart is not told from the control file: a cold copy has the same one, and lacks the joins.
func TestACopyOfTheFilesOfAStoppedServerStartsAsAfterAnOrderlyRestartAndHasForgottenAJoin(t *testing.T) {
	t.Parallel()
	cluster := server.Private(t, nil)
	home := cluster.URL("postgres")
	run(t, "migrate", "up", "--database", home).is(t, 0)
	server.Exec(t, home, "CREATE DATABASE first")
	server.Exec(t, home, "CREATE DATABASE second")
	server.Stop(t, cluster)
	cold := cluster.Data + "-cold"
	if out, err := exec.CommandContext(server.Within(t), "cp", "-a", cluster.Data, cold).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cluster = server.Again(t, cluster.Data, cluster.Port)
	run(t, "namespace", "set", "--database", home, "--joins-complete").is(t, 0)
	run(t, "namespace", "join", "--database", server.In(t, home, "first"), "--home", home).is(t, 0)
	server.Stop(t, cluster)

	for _, data := range []string{cluster.Data, cold} {
		out, err := exec.CommandContext(server.Within(t), server.Tool(t, "pg_controldata"), data).CombinedOutput()
		if err != nil || !regexp.MustCompile(`state: +shut down\n`).Match(out) {
			t.Fatalf("%s: %v\n%s", data, err, out)
		}
		started := server.Again(t, data, cluster.Port)
		knows := server.Value[bool](t, server.Connect(t, home),
			"SELECT EXISTS (SELECT FROM pgflurry.worker WHERE node = 'first')")
		if knows != (data == cluster.Data) {
			t.Errorf("%s knows the database that joined: %t", data, knows)
		}
		run(t, "namespace", "join", "--database", server.In(t, home, "second"), "--home", home).
			is(t, 1, "only restarted", "--joins-complete")
		server.Stop(t, started)
	}
}

func TestTheServerThatMadeANamespaceKeepsNoWorkerBack(t *testing.T) {
	t.Parallel()
	url := server.Database(t)
	if err := migrations.Up(t.Context(), url, migrations.Settings{}); err != nil {
		t.Fatal(err)
	}
	program.Serve(t, url, "first").Line("worker acquired")
}
