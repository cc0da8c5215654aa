package unique

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"pgflurry/internal/namespace/decide"
	"pgflurry/internal/postgres"
	"pgflurry/migrations"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

// on is the database of these tests on a server.
func on(cluster *postgres.Cluster) string { return cluster.URL("postgres") }

// runs executes pgflurry, and wants this exit code and these texts.
func (s *story) runs(code int, args []string, texts ...string) {
	s.Helper()
	out, err := exec.CommandContext(server.Within(s), program.Path(s), args...).CombinedOutput()
	command := "pgflurry " + strings.Join(args, " ")
	if ended := new(exec.ExitError); err != nil && !errors.As(err, &ended) || max(ended.ExitCode(), 0) != code {
		s.Fatalf("%s: %v, expected exit code %d\n%s", command, err, code, out)
	}
	for _, text := range texts {
		if !strings.Contains(string(out), text) {
			s.Errorf("%s does not say %q:\n%s", command, text, out)
		}
	}
}

func status(url string, more ...string) []string {
	return append([]string{"migrate", "status", "--database", url}, more...)
}

// page returns what the admin listener of a proxy has at a path.
func (s *story) page(admin, path string) string {
	s.Helper()
	response, err := http.Get("http://" + admin + path)
	if err != nil {
		s.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		s.Fatal(err)
	}
	return string(text)
}

// shows waits until the admin listener of a proxy has a text at a path.
func (s *story) shows(admin, path, text string) {
	s.Helper()
	limit := time.After(server.Patience)
	for {
		seen := s.page(admin, path)
		if strings.Contains(seen, text) {
			return
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-limit:
			s.Fatalf("%s of the proxy does not have %q:\n%s", path, text, seen)
		}
	}
}

// observed starts a proxy with an admin listener in front of the database of a URL, which accepts clients.
func (s *story) observed(direct, node string, more ...string) (proxy *program.Proxy, admin string) {
	s.Helper()
	proxy = program.ServeUnleased(s, direct, node, append([]string{
		"--admin-listen", "127.0.0.1:0",
	}, more...)...)
	return proxy, program.Field(proxy.Line("listening for operators"), "address")
}

// original starts a server whose row says what happens on a new one, with a proxy that holds a worker.
func (s *story) original(onNewServer string) (*postgres.Cluster, *program.Proxy) {
	s.Helper()
	cluster := server.Private(s, nil)
	s.up(on(cluster), migrations.Settings{RestartQuarantine: new(time.Duration), NewServer: onNewServer})
	return cluster, program.Serve(s, on(cluster), "of the original")
}

func TestAnUndeclaredCopyIsNoticedByTheProxyTheStatusTheMetricAndThePageUntilItIsDeclared(t *testing.T) {
	t.Parallel()
	server.Binaries(t)
	s := newStory(t, nil)
	original, proxy := s.original("")
	s.runs(0, status(on(original), "--json"), `"new_server": null`, `"on_new_server": "warn"`)

	copied := server.Clone(s, original, "copied")
	beside, admin := s.observed(on(copied), "of the copy")
	for _, role := range []string{"lease database", "listed database"} {
		line := beside.Line("the server of this database is not known", "port is "+fmt.Sprint(copied.Port),
			"data directory is "+copied.Data, "--home HOME --copy", "namespace move")
		if role == "lease database" && !strings.Contains(line, proxy.Address) {
			t.Errorf("the proxy of the original answers at %s, and the log does not say so: %s", proxy.Address, line)
		}
	}
	beside.Leased() // it is only a warning
	s.shows(admin, "/metrics", "\npgflurry_new_server 1\n")
	s.shows(admin, "/", "A server is not known. It may be a copy beside its original")
	s.shows(admin, "/", "pgflurry namespace separate --database URL --copy")
	s.runs(0, status(on(copied)), "not known", fmt.Sprint(original.Port), "to do: The server",
		"--home HOME --copy", proxy.Address+", where node of the original held worker")
	s.runs(0, status(on(copied), "--json"), `"new_server": "database`, `"answer_elsewhere": [`)

	s.runs(0, []string{"namespace", "separate", "--database", on(copied), "--copy"})
	s.runs(0, status(on(copied), "--json"), `"new_server": null`)
	s.shows(admin, "/metrics", "\npgflurry_new_server 0\n")
	s.runs(0, status(on(original), "--json"), `"new_server": null`)
}

func TestWithRefuseAnUndeclaredCopyGivesNoIDByProxyOrFunctionUntilItIsDeclared(t *testing.T) {
	t.Parallel()
	server.Binaries(t)
	s := newStory(t, nil)
	original, proxy := s.original(decide.Refuse)
	copied := server.Clone(s, original, "copied")
	beside, admin := s.observed(on(copied), "of the copy", "--id-database", "ids", "--id-auth", "trust")
	beside.Line("no worker is leased", "is on a server that is not known", "migrate up")

	var drawing sync.WaitGroup
	drawing.Go(func() { // through the proxy and by the function, while the copy is asked
		for range 20 {
			s.draw(proxy.URL, on(original))
		}
	})
	for range 20 {
		s.refuses(beside.URL, "nobody has recognised the server")
		s.refuses(on(copied), "it may be a copy")
	}
	drawing.Wait()
	said := server.Refused(s, server.Connect(s, server.In(s, beside.URL, "ids")), "57P03", "SELECT next_snowflake()")
	if !strings.Contains(said.Message+said.Detail+said.Hint, "migrate up") {
		t.Errorf("a client of the ID database is told %v, hint %q", said, said.Hint)
	}
	s.shows(admin, "/readyz/ids", `"ok":false`)
	s.shows(admin, "/", "the lease database is a copy, or was restored")
	s.runs(3, status(on(copied)), "copied", "is on a server that is not known", proxy.Address)
	s.runs(3, []string{"migrate", "up", "--database", on(copied)}, "is on a server that is not known", "namespace join",
		"namespace separate", "namespace move")
	// closed, it would look like a copy of a closed original
	s.runs(1, []string{"namespace", "close", "--database", on(copied)}, "cannot be closed", "is on a server that is "+
		"not known")

	s.runs(0, []string{"namespace", "join", "--database", on(copied), "--home", on(original), "--copy"})
	beside.End() // its lease database is not the home any more
	beside = program.Serve(s, on(copied), "of the copy", "--lease-database", on(original))
	s.draw(proxy.URL, on(original), on(copied), beside.URL, proxy.URL)
}

func TestARestartIsNoNewServerAndWithRefuseTheFunctionWaitsForAProxyThatRecognisesIt(t *testing.T) {
	t.Parallel()
	server.Binaries(t)
	s := newStory(t, nil)
	original, proxy := s.original(decide.Refuse)
	s.draw(proxy.URL, on(original))
	s.runs(2, []string{"namespace", "set", "--database", on(original), "--new-server", "maybe"}, "Give warn or refuse")
	// it may not read data_directory
	server.Exec(s, on(original), "CREATE ROLE recognises LOGIN; CALL pgflurry.grant_lease('recognises')")
	role := server.As(s, on(original), "recognises", "")
	proxy.Signal(15)
	proxy.End()
	server.Stop(s, original)
	original = server.Again(s, original.Data, original.Port)
	s.refuses(on(original), "nobody has recognised the server")
	s.runs(0, status(on(original), "--json"), `"new_server": null`)
	proxy = program.Serve(s, on(original), "of the original", "--lease-database", role)
	s.draw(proxy.URL, on(original))

	// without a proxy the command recognises it
	server.Stop(s, original)
	original = server.Again(s, original.Data, original.Port)
	s.refuses(on(original), "nobody has recognised the server")
	s.runs(0, []string{"migrate", "up", "--database", on(original)})
	s.draw(on(original))
}

func TestAnotherPortIsNewUnlessTheURLNamesTheKnownOneToo(t *testing.T) {
	t.Parallel()
	server.Binaries(t)
	s := newStory(t, nil)
	original, _ := s.original("")
	before := original.Port
	server.Stop(s, original)
	original = server.Again(s, original.Data, server.FreePort(t))
	s.runs(0, status(on(original)), fmt.Sprintf("port is %d, and was %d", original.Port, before))

	both := fmt.Sprintf("host=127.0.0.1,127.0.0.1 port=%d,%d user=postgres dbname=postgres sslmode=disable",
		before, original.Port)
	s.runs(0, status(both, "--json"), `"new_server": null`)
	s.runs(0, []string{"migrate", "up", "--database", both})
	s.runs(0, status(on(original), "--json"), `"new_server": null`) // it has learnt the address
}

func TestAMemberThatIsPromotedIsKnownWhereTheURLNamesAllMembers(t *testing.T) {
	t.Parallel()
	server.Binaries(t)
	s := newStory(t, nil)
	primary := server.Private(s, nil)
	s.up(on(primary), migrations.Settings{RestartQuarantine: new(time.Duration), NewServer: decide.Refuse})
	source := fmt.Sprintf("host=127.0.0.1 port=%d", primary.Port)
	standby := server.Standby(s, primary, "standby", source, nil)
	members := fmt.Sprintf("host=127.0.0.1,127.0.0.1 port=%d,%d user=postgres dbname=postgres sslmode=disable "+
		"target_session_attrs=read-write", primary.Port, standby.Port)
	proxy := program.Serve(s, on(primary), "of the cluster", "--lease-database", members,
		"--upstream", fmt.Sprintf("127.0.0.1:%d,127.0.0.1:%d", primary.Port, standby.Port), "--upstream-primary")
	s.draw(proxy.URL)
	// the standby has all that the primary knows
	conn := server.Connect(s, on(primary))
	server.Eventually(s, conn, "EXISTS (SELECT FROM pg_stat_replication WHERE replay_lsn >= pg_current_wal_lsn())")
	conn.Close(server.Within(s))
	server.Crash(s, primary)
	server.Promote(s, standby)
	conn = server.Connect(s, on(standby))
	server.Eventually(s, conn, "NOT pgflurry.awaits_recognition()") // the proxy does that
	s.draw(proxy.URL, on(standby))
	s.runs(0, status(members, "--json"), `"new_server": null`)
	if said := proxy.Output(); strings.Contains(said, "is not known") {
		t.Errorf("the proxy warns of a member of its cluster:\n%s", said)
	}
}

// A dump that is restored on a clone of the server has its system identifier, as one that is restored in place.
func TestARestoreOnAnUndeclaredCopyOfTheServerIsNoRestoreInPlace(t *testing.T) {
	t.Parallel()
	s := newStory(t, nil)
	original := server.Private(s, nil)
	s.up(on(original), migrations.Settings{RestartQuarantine: new(time.Duration)})
	joined := s.database(on(original), "joined")
	s.up(joined, migrations.Settings{JoinURL: on(original)})
	copied := server.Clone(s, original, "copied")
	for name, settings := range map[string]migrations.Settings{
		"postgres": {Moved: true}, "joined": {Moved: true, JoinURL: on(original)},
	} {
		url := copied.URL(name)
		s.restore(url, s.dump(original.URL(name), "--format=custom"), "--clean", "--if-exists")
		s.refusesUp(url, migrations.Settings{}, "was restored", "namespace join", "--no-other-draws")
		s.refusesUp(url, settings, "nothing here shows whether another one goes on", "--no-other-draws")
	}
	s.draw(on(original), joined)
}

func TestAMoveKeepsTheGateClosedForAsLongAsTheOperatorSaysThatGrantsMayLast(t *testing.T) {
	t.Parallel()
	s := newStory(t, nil)
	home := server.Private(s, nil)
	s.up(on(home), migrations.Settings{RestartQuarantine: new(time.Duration)})
	s.restore(on(home), s.dump(on(home), "--format=custom"), "--clean", "--if-exists")
	state, err := migrations.UpState(server.Within(s), on(home), migrations.Settings{Moved: true, MaxWindow: time.Hour})
	if err != nil || state.GateOpens < time.Hour || state.GateOpens > time.Hour+time.Minute {
		t.Errorf("the gate opens in %v, %v; expected an hour", state.GateOpens, err)
	}
}
