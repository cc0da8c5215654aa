package leasing

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/inprocess"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/race"
	"pgflurry/tests/support/recorder"
	"pgflurry/tests/support/server"
)

// settings are those of a node with short windows.
func settings(url, node string) inprocess.Settings {
	if strings.Contains(url, "?") {
		url += "&application_name=holder"
	}
	return inprocess.Settings{
		LeaseDatabase: url, Node: node, Window: 2 * time.Second, FirstWindow: time.Second,
		Log: slog.New(slog.DiscardHandler),
	}
}

// open opens a generator of a node. The test closes it at its end.
func open(t *testing.T, url, node string) *inprocess.Generator {
	t.Helper()
	g, err := inprocess.Open(server.Within(t), settings(url, node))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(context.Background()); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return g
}

// shortWindows makes a new namespace with windows so short that a test sees them end.
func shortWindows(t *testing.T) string {
	t.Helper()
	url := server.Migrated(t)
	shorten(t, url)
	return url
}

func shorten(t *testing.T, url string) {
	t.Helper()
	server.Exec(t, url, "UPDATE pgflurry.namespace SET max_window = '2 s', skew = '100 ms', quarantine = '3 s'")
}

// leave retires all workers for holders but the first few.
func leave(t *testing.T, url string, few int) {
	t.Helper()
	server.Do(t, server.Connect(t, url), "UPDATE pgflurry.worker SET retired_at = now() WHERE kind = 'proxy' "+
		"AND worker >= $1 + (SELECT min(worker) FROM pgflurry.worker WHERE kind = 'proxy')", few)
}

// ids compares every ID of a test.
type ids struct {
	*testing.T
	mu  sync.Mutex
	all *recorder.Recorder
}

func newIDs(t *testing.T) *ids { return &ids{T: t, all: recorder.New("", 0)} }

func (a *ids) add(ids ...int64) {
	a.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.all.Add(ids...); err != nil {
		a.Error(err)
	}
}

// draw draws 10,000 IDs of a generator.
func (a *ids) draw(g *inprocess.Generator) {
	a.Helper()
	drawn, err := g.AppendN(server.Within(a), nil, 10_000)
	a.add(drawn...)
	if err != nil {
		a.Error(err)
	}
}

// ask draws 10,000 IDs over a session, of a proxy or of the function.
func (a *ids) ask(conn *pgx.Conn) {
	a.Helper()
	for range 20 {
		a.add(server.Values[int64](a, conn, "SELECT next_snowflake() FROM generate_series(1, 500)")...)
	}
}

// again draws until a generator has got its second worker.
func (a *ids) again(g *inprocess.Generator) {
	a.Helper()
	ctx := server.Within(a)
	for g.Stats().Acquisitions["ok"] < 2 {
		if ctx.Err() != nil {
			a.Fatalf("no second worker: %v", g.Stats().Problem)
		}
		drawn, _ := g.AppendN(ctx, nil, 500) // in a copy it fails at once
		a.add(drawn...)
		server.Pause(ctx, 20*time.Millisecond)
	}
}

// beside draws from all of them at once.
func (a *ids) beside(draws ...func()) {
	var all sync.WaitGroup
	for _, draw := range draws {
		all.Go(draw)
	}
	all.Wait()
}

// outside is the program orders, in a module of its own. All tests share it.
var outside = sync.OnceValues(func() (dir string, err error) {
	if dir, err = server.Folder(""); err != nil {
		return "", err
	}
	return dir, build(dir)
})

// build makes the module in a folder and builds it, without a module proxy. "go mod tidy" would ask for the modules of
// tests, which nobody needs here.
func build(dir string) error {
	root, err := filepath.Abs("../..")
	if err != nil {
		return err
	}
	for from, to := range map[string]string{"orders/main.go": "main.go", root + "/go.sum": "go.sum"} {
		text, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, to), text, 0o644); err != nil {
			return err
		}
	}
	for _, args := range [][]string{
		{"mod", "init", "example.com/orders"},
		{"mod", "edit", "-require=pgflurry@v0.0.0", "-replace=pgflurry=" + root},
		{"build", fmt.Sprintf("-race=%v", race.Enabled), "-o", "orders", "."},
	} {
		cmd := exec.Command("go", args...)
		cmd.Dir = dir
		// go.sum has the sums of the modules, so nobody is asked for them.
		cmd.Env = append(os.Environ(), "GOPROXY=off", "GONOSUMDB=*", "GOFLAGS=-mod=mod", "GOWORK=off")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
		}
	}
	return nil
}

// orders runs the program, and waits until it has a worker.
func orders(t *testing.T, url, node string) *program.Process {
	t.Helper()
	dir, err := outside()
	if err != nil {
		t.Fatal(err)
	}
	p := program.StartCommand(t, exec.Command(filepath.Join(dir, "orders"), url, node))
	p.Line("opened: worker")
	p.Line("ids: ")
	return p
}

// drawn adds what the program has drawn, once it has ended, and returns how many IDs that is.
func (a *ids) drawn(p *program.Process) int {
	a.Helper()
	n := 0
	for line := range strings.Lines(p.Output()) {
		var first, last int64
		// a line that was cut by a kill has a last ID that is too small
		if _, err := fmt.Sscanf(line, "ids: %d %d\n", &first, &last); err != nil {
			continue
		}
		for id := first; id <= last; id++ {
			a.add(id)
			n++
		}
	}
	return n
}
