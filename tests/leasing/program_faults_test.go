package leasing

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"pgflurry/inprocess"
	"pgflurry/internal/lease"
	"pgflurry/internal/lease/holder"
	"pgflurry/internal/postgres"
	"pgflurry/migrations"
	"pgflurry/tests/support/network"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

func TestAProcessThatIsStoppedUntilAnotherHasItsWorkerGivesNoIDTwice(t *testing.T) {
	t.Parallel()
	a := newIDs(t)
	url := shortWindows(t)
	leave(t, url, 2)
	proxy := program.Serve(t, url, "proxy", "--window", "2s")
	session, function := server.Connect(t, proxy.URL), server.Connect(t, url)
	p := orders(t, url, "stopped")
	worker := program.Field(" "+p.Line("opened: worker")+" ", "worker")
	p.Signal(syscall.SIGSTOP)
	other := open(t, url, "other") // waits for the only other worker
	a.beside(func() { a.draw(other) }, func() { a.ask(session) }, func() { a.ask(function) })

	printed := p.Printed()
	p.Signal(syscall.SIGCONT)
	// It finishes the batch in which it was stopped, and waits for a worker: there is none.
	a.beside(func() { a.draw(other) }, func() { a.ask(session) }, func() { a.ask(function) })
	if err := other.Close(server.Within(t)); err != nil {
		t.Fatal(err)
	}
	p.LineFrom(printed, "ids: ")
	p.LineFrom(p.Printed(), "ids: ") // a whole batch after that
	a.beside(func() { a.ask(session) }, func() { a.ask(function) })
	p.Signal(syscall.SIGTERM)
	if code := p.End(); code != 0 {
		t.Errorf("exit code %d:\n%s", code, p.Output())
	}
	if n := a.drawn(p); n < 400 {
		t.Errorf("worker %s: %d IDs were drawn", worker, n)
	}
}

func TestAProcessThatIsKilledLeavesNoIDToTheNextOfItsNode(t *testing.T) {
	t.Parallel()
	a := newIDs(t)
	url := shortWindows(t)
	leave(t, url, 2)
	proxy := program.Serve(t, url, "proxy", "--window", "2s")
	session, function := server.Connect(t, proxy.URL), server.Connect(t, url)
	for range 3 {
		p := orders(t, url, "killed") // after the rest of the one before
		a.beside(func() { a.ask(session) }, func() { a.ask(function) })
		p.Signal(syscall.SIGKILL)
		p.End()
		if a.drawn(p) == 0 {
			t.Error("no ID was drawn")
		}
	}
}

func TestACopyOfTheDatabaseGrantsNothingAndTheCallerLearnsThatAtOnce(t *testing.T) {
	t.Parallel()
	a := newIDs(t)
	url := shortWindows(t)
	g := open(t, url, "original")
	a.draw(g)
	server.Alone(t, url)
	copied := server.TemplateCopy(t, url, server.Name(t, url)+"_copy")
	var why *holder.CopyError
	if _, err := inprocess.Open(server.Within(t), settings(copied, "original")); !errors.As(err, &why) {
		t.Errorf("at the copy: %v", err)
	}
	a.draw(g)
	server.Do(t, server.Connect(t, copied), "CALL pgflurry.new_namespace()")
	shorten(t, copied)
	newIDs(t).draw(open(t, copied, "original")) // another ID space
	a.draw(g)
}

func TestAHolderWhoseAddressLeadsToACopyGoesOnWhenItLeadsBack(t *testing.T) {
	t.Parallel()
	a := newIDs(t)
	url := shortWindows(t)
	link, through := network.To(t, url)
	g := open(t, through, "one")
	a.draw(g)
	server.Alone(t, url)
	cluster := server.Private(t, nil)
	there := copySchema(t, url, cluster)
	link.Lead(server.Parse(t, there).Host)
	for { // its grant may be finished
		id, err := g.Next(server.Within(t))
		var refusal *lease.Refusal
		if errors.As(err, &refusal) && refusal.Reason == lease.Copy {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		a.add(id)
	}
	link.Lead(server.Parse(t, url).Host)
	proxy := server.Connect(t, program.Serve(t, url, "proxy", "--window", "2s").URL)
	for {
		id, err := g.Next(server.Within(t))
		if err == nil {
			a.add(id)
			break
		}
	}
	a.beside(func() { a.draw(g) }, func() { a.ask(proxy) }, func() { a.ask(server.Connect(t, url)) })
}

// copySchema copies schema pgflurry with all rows into a database of the same name on another server.
func copySchema(t *testing.T, from string, to *postgres.Cluster) string {
	t.Helper()
	name := server.Name(t, from)
	server.Exec(t, to.URL("postgres"), "CREATE DATABASE "+name)
	there := server.In(t, to.URL("postgres"), name)
	file := filepath.Join(t.TempDir(), "dump.sql")
	tool(t, "pg_dump", "--no-owner", "--no-privileges", "--file", file, from)
	tool(t, "psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-f", file, there)
	return there
}

func tool(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(server.Within(t), server.Tool(t, name), args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

// home is a new namespace with short windows in a database of a server of the test's own, whose restarts count.
func home(t *testing.T, cluster *postgres.Cluster) string {
	t.Helper()
	server.Exec(t, cluster.URL("postgres"), "CREATE DATABASE app")
	url := server.In(t, cluster.URL("postgres"), "app")
	if err := migrations.Up(server.Within(t), url, migrations.Settings{}); err != nil {
		t.Fatal(err)
	}
	shorten(t, url)
	return url
}

func TestARestoreInPlaceBesideHoldersThatRunGivesNoIDTwice(t *testing.T) {
	t.Parallel()
	a := newIDs(t)
	url := home(t, server.Private(t, nil))
	file := filepath.Join(t.TempDir(), "dump")
	tool(t, "pg_dump", "--format=custom", "--file", file, url)
	g := open(t, url, "one")
	proxy := program.Serve(t, url, "proxy", "--window", "2s")
	p := orders(t, url, "orders")
	a.beside(func() { a.draw(g) }, func() { a.ask(server.Connect(t, proxy.URL)) },
		func() { a.ask(server.Connect(t, url)) })
	tool(t, "pg_restore", "--clean", "--if-exists", "--dbname", url, file)
	if err := migrations.Up(server.Within(t), url, migrations.Settings{Moved: true}); err != nil {
		t.Fatal(err)
	}
	a.again(g) // its lease is not in the rows
	printed := p.Printed()
	a.beside(func() { a.draw(g) }, func() { a.ask(server.Connect(t, url)) })
	p.LineFrom(printed, "ids: ")
	p.Signal(syscall.SIGTERM)
	if code := p.End(); code != 0 {
		t.Errorf("exit code %d:\n%s", code, p.Output())
	}
	a.drawn(p)
}

func TestAFailoverToAStandbyThatLagsGivesNoIDTwice(t *testing.T) {
	t.Parallel()
	a := newIDs(t)
	cluster := server.Private(t, nil)
	url := home(t, cluster)
	standby := server.Standby(t, cluster, "standby", "", nil) // gets nothing from now on
	link, through := network.To(t, url)
	g := open(t, through, "one")
	p := orders(t, through, "orders")
	proxy := program.Serve(t, through, "proxy", "--window", "2s")
	a.beside(func() { a.draw(g) }, func() { a.ask(server.Connect(t, proxy.URL)) },
		func() { a.ask(server.Connect(t, url)) })

	server.Crash(t, cluster)
	server.Promote(t, standby)
	there := server.In(t, standby.URL("postgres"), "app")
	link.Lead(server.Parse(t, there).Host)
	a.again(g) // the standby does not know its lease
	printed := p.Printed()
	a.beside(func() { a.draw(g) }, func() { a.ask(server.Connect(t, there)) })
	p.LineFrom(printed, "ids: ")
	second := open(t, there, "second")
	a.beside(func() { a.draw(g) }, func() { a.draw(second) }, func() { a.ask(server.Connect(t, there)) })
	p.Signal(syscall.SIGTERM)
	if code := p.End(); code != 0 {
		t.Errorf("exit code %d:\n%s", code, p.Output())
	}
	a.drawn(p)
}

func TestWhileTheDatabaseIsAwayNextWaitsAndGoesOnByItself(t *testing.T) {
	t.Parallel()
	a := newIDs(t)
	url := shortWindows(t)
	link, through := network.To(t, url)
	g := open(t, through, "one")
	a.draw(g)
	link.Silence()
	for { // its grant may be finished
		id, err := g.TryNext()
		if errors.Is(err, inprocess.ErrNoGrant) {
			break
		}
		if err == nil {
			a.add(id)
		}
	}
	late, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := g.Next(late); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, inprocess.ErrNoGrant) {
		t.Errorf("with a short patience: %v", err)
	}
	waited := make(chan struct{})
	go func() { defer close(waited); a.draw(g) }()
	link.Heal()
	<-waited
	a.beside(func() { a.draw(g) }, func() { a.ask(server.Connect(t, url)) })
}
