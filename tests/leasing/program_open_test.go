package leasing

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/client"
	"pgflurry/inprocess"
	"pgflurry/tests/support/network"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

// Both ways satisfy the interface that a program declares for itself.
var _, _ interface {
	Next(context.Context) (int64, error)
} = (*inprocess.Generator)(nil), (*client.Pool)(nil)

// unheld wants that nobody holds a worker, and that no holder of this process is connected.
func unheld(t *testing.T, url string) {
	t.Helper()
	conn := server.Connect(t, url)
	if n := server.Value[int](t, conn,
		"SELECT count(*) FROM pgflurry.worker WHERE kind = 'proxy' AND term > 0 AND released_at IS NULL"); n != 0 {
		t.Errorf("%d workers are held", n)
	}
	server.Eventually(t, conn, "NOT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() "+
		"AND application_name = 'holder')")
}

// call is a log that calls a function for each line with a text.
type call struct {
	text string
	then func()
}

// Write implements io.Writer.
func (c *call) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte(c.text)) {
		c.then()
	}
	return len(line), nil
}

func TestInvariant1AnOpenThatFailsLeavesNothing(t *testing.T) {
	server.NoLeak(t)
	url := shortWindows(t)
	number := 3
	for name, c := range map[string]struct {
		change func(*inprocess.Settings)
		says   string
	}{
		"no node":        {func(s *inprocess.Settings) { s.Node = "" }, "Settings.Node is missing"},
		"no database":    {func(s *inprocess.Settings) { s.LeaseDatabase = "" }, "Settings.LeaseDatabase is missing"},
		"no URL":         {func(s *inprocess.Settings) { s.LeaseDatabase = "secret" }, "LeaseDatabase is not a"},
		"two databases":  {func(s *inprocess.Settings) { s.Connection = new(pgx.ConnConfig) }, "both LeaseDatabase"},
		"a short window": {func(s *inprocess.Settings) { s.Window = time.Millisecond }, "Settings.Window is 1ms"},
		"a long program": {func(s *inprocess.Settings) { s.Program = strings.Repeat("x", 250) }, "Settings.Program"},
		"a long window":  {func(s *inprocess.Settings) { s.Window = time.Hour }, "max_window is 2s"},
		"a first window": {func(s *inprocess.Settings) { s.FirstWindow = time.Minute }, "longer than window"},
		"no datacenters": {func(s *inprocess.Settings) { s.Datacenter = &number }, "has no datacenter bits"},
		"a long name":    {func(s *inprocess.Settings) { s.Node = strings.Repeat("x", 256) }, "1 to 255 are allowed"},
	} {
		s := settings(url, "one")
		c.change(&s)
		if _, err := inprocess.Open(server.Within(t), s); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v; expected %q", name, err, c.says)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error repeats the URL: %v", name, err)
		}
	}
	leave(t, url, 0)
	_, err := inprocess.Open(server.Within(t), settings(url, "one"))
	server.Says(t, err, "opening a generator in process", "all 1008 workers are retired")
	unheld(t, url)
}

func TestInvariant1AnOpenWhoseContextEndsSaysWhyItWaitedAndLeavesNothing(t *testing.T) {
	server.NoLeak(t)
	url := shortWindows(t)
	empty, held := server.Database(t), shortWindows(t)
	leave(t, held, 1)
	holds := open(t, held, "holds")
	link, silent := network.To(t, url)
	link.Silence()
	for at, says := range map[string]string{
		empty: "has no pgflurry namespace", held: "no worker is free",
		"postgres://nobody@127.0.0.1:1/app": "connection refused",
	} {
		ctx, cancel := context.WithCancel(t.Context())
		s := settings(at, "two")
		s.Log = slog.New(slog.NewTextHandler(&call{says, cancel}, nil))
		_, err := inprocess.Open(ctx, s)
		cancel()
		if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v; expected the end of the context and %q", at, err, says)
		}
	}
	late, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := inprocess.Open(late, settings(silent, "two")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("of a silent server: %v", err)
	}
	if err := holds.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	unheld(t, held)
	unheld(t, url)
}

func TestInvariant3SuspendGivesTheWorkerBackAndResumeGetsOne(t *testing.T) {
	server.NoLeak(t)
	a := newIDs(t)
	url := shortWindows(t)
	g := open(t, url, "one")
	a.draw(g)
	for range 3 {
		if err := g.Suspend(t.Context()); err != nil {
			t.Fatal(err)
		}
		unheld(t, url)
		if _, err := g.TryNext(); err != inprocess.ErrSuspended {
			t.Errorf("TryNext: %v", err)
		}
		waited := make(chan struct{})
		go func() { defer close(waited); a.draw(g) }()
		if err := g.Resume(server.Within(t)); err != nil {
			t.Fatal(err)
		}
		if err := g.Resume(t.Context()); err != nil { // which has nothing to do
			t.Error(err)
		}
		<-waited
		a.beside(func() { a.draw(g) }, func() { a.ask(server.Connect(t, url)) })
	}
}

func TestInvariant3DrawsThatRunWhileItClosesGiveNoIDOfTheNextHolder(t *testing.T) {
	server.NoLeak(t)
	a := newIDs(t)
	url := shortWindows(t)
	leave(t, url, 1)
	for range 3 {
		g := open(t, url, "one")
		ended := make(chan error)
		for range 2 {
			go func() {
				for {
					drawn, err := g.AppendN(t.Context(), nil, 300)
					a.add(drawn...)
					if err != nil {
						ended <- err
						return
					}
				}
			}()
		}
		a.draw(g)
		if err := g.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := <-ended; err != inprocess.ErrClosed {
				t.Error(err)
			}
		}
	}
}

func TestInvariant4AfterCloseNothingIsLeft(t *testing.T) {
	server.NoLeak(t)
	url := shortWindows(t)
	g := open(t, url, "one")
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for range 2 {
		if err := g.Close(over); err != nil {
			t.Error(err)
		}
	}
	unheld(t, url)
	for name, call := range map[string]func() error{
		"Next":    func() error { _, err := g.Next(t.Context()); return err },
		"TryNext": func() error { _, err := g.TryNext(); return err },
		"AppendN": func() error { _, err := g.AppendN(t.Context(), nil, 2); return err },
		"Resume":  func() error { return g.Resume(t.Context()) },
		"Stats":   func() error { return g.Stats().Problem },
	} {
		if err := call(); err != inprocess.ErrClosed {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestInvariant5GeneratorsOfOneProcessShareNothing(t *testing.T) {
	server.NoLeak(t)
	a := newIDs(t)
	url := shortWindows(t)
	config, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	s := settings("", "same")
	s.Connection = config
	first := open(t, url, "same")
	second, err := inprocess.Open(server.Within(t), s)
	if err != nil {
		t.Fatal(err)
	}
	if first.Stats().Worker == second.Stats().Worker {
		t.Errorf("both have worker %d", first.Stats().Worker)
	}
	a.beside(func() { a.draw(first) }, func() { a.draw(second) })
	if err := second.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	a.draw(first)
}

func TestAModuleOutsideOfTheRepositoryGainsFiveRequirementsAndRuns(t *testing.T) {
	t.Parallel()
	a := newIDs(t)
	url := shortWindows(t)
	p := orders(t, url, "outside")
	p.Signal(syscall.SIGTERM)
	if code := p.End(); code != 0 || a.drawn(p) == 0 {
		t.Errorf("exit code %d:\n%s", code, p.Output())
	}
	unheld(t, url)
	dir, _ := outside()
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(regexp.MustCompile(`(?m)^(\t|require )\S+ v`).FindAll(text, -1)); n == 0 || n > 5 {
		t.Errorf("go.mod has %d requirements; expected 5 at most:\n%s", n, text)
	}
}

// The sums of docs/in-your-program.md, on a small layout: one worker that is used again and again.
func TestAWorkerRestsForTheFirstWindowAfterAnOrderlyEndAndForTheQuarantineAfterAKill(t *testing.T) {
	t.Parallel()
	a := newIDs(t)
	url := shortWindows(t)
	leave(t, url, 1)
	conn := server.Connect(t, url)
	// how long the worker rests from the moment at which it was taken, less what a renewal has added
	const rests = "SELECT extract(epoch FROM n.unit) * (w.reserved_until - pgflurry.ticks(w.renewed_at)) + " +
		"CASE WHEN w.released_at IS NULL THEN extract(epoch FROM n.quarantine) ELSE 0 END " +
		"FROM pgflurry.worker AS w, pgflurry.namespace AS n WHERE w.kind = 'proxy' AND w.retired_at IS NULL"
	g := open(t, url, "short")
	if err := g.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if rest := server.Value[float64](t, conn, rests); rest > 1 {
		t.Errorf("after an orderly end it rests for %v s; the first window is 1 s", rest)
	}
	p := orders(t, url, "killed") // waits until it has rested
	p.Signal(syscall.SIGKILL)
	p.End()
	a.drawn(p)
	if rest := server.Value[float64](t, conn, rests); rest < 4 || rest > 5.2 {
		t.Errorf("after a kill it rests for %v s; window and quarantine are 1 to 2 s and 3 s, the skew 0.1 s", rest)
	}
	a.draw(open(t, url, "next"))
}

func TestOperatorsSeeAHolderInAProcessAsWhatItIs(t *testing.T) {
	t.Parallel()
	url := shortWindows(t)
	var log bytes.Buffer
	s := settings(url, "orders-1")
	s.Program, s.Log = "example.com/orders", slog.New(slog.NewTextHandler(&log, nil))
	g, err := inprocess.Open(server.Within(t), s)
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(server.Within(t), program.Path(t), "workers", "list", "--database", url).
		CombinedOutput()
	if err != nil || !regexp.MustCompile(`held +orders-1 .*in process: example.com/orders`).Match(out) {
		t.Errorf("workers list: %v\n%s", err, out)
	}
	proxy := program.Serve(t, url, "proxy", "--window", "2s", "--admin-listen", "127.0.0.1:0")
	address, patience := program.Field(proxy.Line("listening for operators"), "address"), server.Within(t)
	for shown := ""; !strings.Contains(shown, "in process: example.com/orders"); { // after the next survey
		page, err := http.Get("http://" + address + "/")
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(page.Body)
		page.Body.Close()
		if shown = string(text); err != nil || patience.Err() != nil {
			t.Fatalf("the status page does not show the holder: %v\n%s", err, text)
		}
	}
	st := g.Stats()
	if !st.Held || st.Term != 1 || st.Reserve <= 0 || st.Problem != nil || st.Layout.SequenceBits != 12 {
		t.Errorf("Stats: %+v", st)
	}
	if err := g.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, says := range []string{"worker acquired", "worker released"} {
		if !strings.Contains(log.String(), says) {
			t.Errorf("the log lacks %q:\n%s", says, &log)
		}
	}
}
