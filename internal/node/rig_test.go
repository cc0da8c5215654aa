//go:build unix

package node_test

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/internal/config"
	"pgflurry/internal/node"
	"pgflurry/tests/support/server"
)

func TestMain(m *testing.M) { server.Main(m) }

// functionWorker is the function's worker in a database from server.Migrated.
const functionWorker = 0

// journal is a log that tests can wait for.
type journal struct {
	mu   sync.Mutex
	text strings.Builder
	more chan struct{} // closed and replaced with each line
}

func (j *journal) Write(line []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	close(j.more)
	j.more = make(chan struct{})
	return j.text.Write(line)
}

func (j *journal) read() (text string, more <-chan struct{}) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String(), j.more
}

// await returns when a line with all these texts was logged.
func (j *journal) await(t testing.TB, what ...string) {
	t.Helper()
	limit := time.After(server.Patience)
	for {
		text, more := j.read()
		for line := range strings.Lines(text) {
			if !slices.ContainsFunc(what, func(part string) bool { return !strings.Contains(line, part) }) {
				return
			}
		}
		select {
		case <-more:
		case <-limit:
			t.Fatalf("nothing was logged with %q:\n%s", what, text)
		}
	}
}

// running is a node in this process.
type running struct {
	*node.Node
	direct string // URL of the lease database
	log    *journal
	stop   context.CancelFunc
	ended  chan error
}

// settings are for a node in front of the database at a URL.
func settings(t testing.TB, direct, name string) config.Given {
	t.Helper()
	return config.Given{
		Settings: config.Settings{Name: name, Window: 30 * time.Second, DrainTimeout: server.Patience},
		Listen:   "127.0.0.1:0", Upstream: server.Parse(t, direct).Host, LeaseDatabase: direct,
	}
}

// opened is a node with these settings.
func opened(g config.Given) (*node.Node, error) {
	s, err := g.Parse()
	if err != nil {
		s.CloseHandedOver()
		return nil, err
	}
	return node.New(s)
}

// reload gives the settings to the node.
func (r *running) reload(g config.Given) error {
	s, err := g.Parse()
	if err != nil {
		return err
	}
	return r.Reload(s)
}

// start runs a node, after the changes. The end of the test ends it, if the test has not.
func start(t testing.TB, s config.Given, change ...func(*node.Node)) *running {
	t.Helper()
	log := &journal{more: make(chan struct{})}
	s.Log = slog.New(slog.NewTextHandler(log, nil))
	n, err := opened(s)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range change {
		f(n)
	}
	ctx, stop := context.WithCancel(context.Background())
	r := &running{Node: n, direct: s.LeaseDatabase, log: log, stop: stop, ended: make(chan error, 1)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.ended <- n.Run(ctx)
	}()
	t.Cleanup(func() {
		stop()
		select {
		case <-done:
		case <-time.After(server.Patience):
			t.Error("Run has not returned")
		}
		if text, _ := log.read(); t.Failed() {
			t.Logf("node %s:\n%s", s.Name, text)
		}
	})
	return r
}

// result is what Run returned.
func (r *running) result(t *testing.T) error {
	t.Helper()
	select {
	case err := <-r.ended:
		return err
	case <-time.After(server.Patience):
		t.Fatal("Run has not returned")
		return nil
	}
}

// end ends the node, and returns Run's error.
func (r *running) end(t *testing.T) error {
	t.Helper()
	r.stop()
	return r.result(t)
}

// answers waits until IDs come from memory.
func (r *running) answers(t testing.TB) {
	t.Helper()
	<-r.Answering()
}

// connect opens a session through the node.
func (r *running) connect(t testing.TB) *pgx.Conn {
	t.Helper()
	through := server.Parse(t, r.direct)
	through.Host = r.Addr().String()
	return server.Connect(t, through.String())
}

// draw draws an ID, and returns its worker, too.
func draw(t testing.TB, conn *pgx.Conn) (id, worker int64) {
	t.Helper()
	id = server.Value[int64](t, conn, "SELECT next_snowflake()")
	return id, id >> 12 & 1023
}
