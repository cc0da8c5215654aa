//go:build full

package upgrade

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

// functions is the number of workers for functions in the default layout: 0 to 15 of 1024.
const functions = 16

// fleet is the proxies in front of one database.
type fleet struct {
	t       *testing.T
	direct  string
	conn    *pgx.Conn
	names   []string
	address map[string]string
	running map[string]*program.Process
}

func newFleet(t *testing.T, direct string, names ...string) *fleet {
	f := &fleet{
		t: t, direct: direct, conn: server.Connect(t, direct), names: names,
		address: make(map[string]string), running: make(map[string]*program.Process),
	}
	for _, name := range names {
		f.address[name] = fmt.Sprintf("127.0.0.1:%d", server.FreePort(t))
	}
	return f
}

// start runs a proxy and waits until it answers from memory. This test does not know the log of another version, so it
// looks at the worker table and at IDs.
func (f *fleet) start(name, path string) {
	f.t.Helper()
	args := program.ServeArgs(f.t, f.direct, name, "--listen", f.address[name])
	f.running[name] = program.StartCommand(f.t, exec.Command(path, args...))
	server.Eventually(f.t, f.conn,
		"EXISTS (SELECT FROM pgflurry.worker WHERE node = $1 AND owner IS NOT NULL AND released_at IS NULL)", name)
	through := server.Parse(f.t, f.direct)
	through.Host = f.address[name]
	conn := server.Connect(f.t, through.String())
	defer conn.Close(context.Background())
	for worker := 0; worker < functions; { // the function answers until the proxy may
		worker = drawWorker(f.t, conn)
	}
}

// stop ends a proxy in good order.
func (f *fleet) stop(name string) {
	f.t.Helper()
	f.running[name].Signal(syscall.SIGTERM)
	if code := f.running[name].End(); code != 0 {
		f.t.Fatalf("proxy %s has ended with exit code %d", name, code)
	}
}

// urls returns n URLs for clients. Each lists all proxies, and each begins with another one.
func (f *fleet) urls(clients int) (urls []string) {
	for n := range clients {
		var hosts []string
		for i := range f.names {
			hosts = append(hosts, f.address[f.names[(n+i)%len(f.names)]])
		}
		through := server.Parse(f.t, f.direct)
		through.Host = strings.Join(hosts, ",")
		urls = append(urls, through.String())
	}
	return urls
}

// restart replaces a proxy while clients work. It fails if a client loses its session twice.
func (f *fleet) restart(l *load, name, path string) (sent int) {
	f.t.Helper()
	before := l.sent()
	f.stop(name)
	f.start(name, path)
	l.goesOn(f.t, each)
	for n, after := range l.sent() {
		if after > before[n]+1 {
			f.t.Errorf("client %d was sent away %d times while proxy %s restarted", n, after-before[n], name)
		}
		sent += after - before[n]
	}
	if sent == 0 {
		f.t.Errorf("proxy %s had no client to send away", name)
	}
	return sent
}

const (
	clients = 16
	each    = 20 // things that every client does between two events
)

func TestAnUpgradeUnderLoadAndTheWayBackRepeatNoIDAndSendASessionAwayOnce(t *testing.T) {
	t.Parallel()
	former, commit := oldProgram(t)
	this := program.Path(t)
	direct := server.Database(t)
	run(t, former, "migrate", "up", "--database", direct)
	server.Exec(t, direct, "CREATE TABLE item (id bigint DEFAULT next_snowflake() PRIMARY KEY)")
	f := newFleet(t, direct, "a", "b", "c")
	for _, name := range f.names {
		f.start(name, former)
	}
	l, end := startLoad(t, f.urls(clients))
	l.goesOn(t, each)

	from := time.Now()
	run(t, this, "migrate", "up", "--database", direct) // the database first, as docs/operations.md says
	l.goesOn(t, each)
	sent, restarts := 0, 0
	for _, path := range []string{this, former} { // forward, and back
		for _, name := range f.names {
			sent += f.restart(l, name, path)
			restarts++
			f.isOf(name, path)
		}
	}
	took := time.Since(from)
	if err := end(); err != nil {
		t.Fatal(err)
	}
	ids := l.compare(t, f.conn)
	for _, name := range f.names {
		f.stop(name)
	}
	const held = "SELECT count(*) FROM pgflurry.worker WHERE kind = 'proxy' AND term > 0 AND released_at IS NULL"
	if n := server.Value[int](t, f.conn, held); n > 0 {
		t.Errorf("%d workers were not given back", n)
	}
	t.Logf("commit %.12s and this program: %d different IDs, %d clients; %d restarts in %v sent them away %d times; "+
		"no other error", commit, ids, clients, restarts, took.Round(time.Millisecond), sent)
}

// isOf expects the version of a proxy's program in the worker table.
func (f *fleet) isOf(name, path string) {
	f.t.Helper()
	const latest = "SELECT version FROM pgflurry.worker WHERE node = $1 ORDER BY acquired_at DESC LIMIT 1"
	version := server.Value[string](f.t, f.conn, latest, name)
	if says := run(f.t, path, "--version"); version == "" || !strings.Contains(says, version) {
		f.t.Errorf("proxy %s is of version %q by the worker table, and of %s", name, version, says)
	}
}

// run runs a program, which has to exit 0, and returns its output.
func run(t *testing.T, path string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(server.Within(t), path, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("pgflurry %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}
