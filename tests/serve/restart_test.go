//go:build unix

package serve

import (
	"context"
	"errors"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/tests/support/program"
	"pgflurry/tests/support/recorder"
	"pgflurry/tests/support/server"
)

// reconnecting is the number of clients that connect again and again.
const reconnecting = 16

// restarts returns how often a proxy is restarted under load: PGFLURRY_TEST_RESTARTS, or a few times.
func restarts(t *testing.T) int {
	t.Helper()
	text := os.Getenv("PGFLURRY_TEST_RESTARTS")
	if text == "" {
		return 10
	}
	count, err := strconv.Atoi(text)
	if err != nil || count < 1 {
		t.Fatalf("PGFLURRY_TEST_RESTARTS is %q; expected a number, such as 100", text)
	}
	return count
}

// load is what happened to clients that draw IDs through a socket. A client connects again when its session ends.
type load struct {
	t      *testing.T
	config *pgx.ConnConfig
	ids    *recorder.Recorder

	mu       sync.Mutex
	sessions int
	sentAway int            // sessions that ended with 57P01
	ended    map[string]int // sessions that ended otherwise, by error
	refused  map[string]int // attempts to connect that failed, by error
	drawn    int
	longest  time.Duration // from the first byte of a connection to the end of its login
	more     chan struct{} // closed and replaced with each session that has drawn an ID
}

// begins starts the clients. end ends them.
func begins(t *testing.T, url string) (l *load, end func()) {
	t.Helper()
	config, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	l = &load{
		t: t, config: config, ids: recorder.New("", 64<<20), ended: map[string]int{}, refused: map[string]int{},
		more: make(chan struct{}),
	}
	var over context.CancelFunc
	ctx, over := context.WithCancel(context.Background())
	var clients sync.WaitGroup
	for range reconnecting {
		clients.Go(func() {
			for ctx.Err() == nil {
				l.session(ctx)
			}
		})
	}
	return l, func() {
		over()
		clients.Wait()
	}
}

// session runs one session of a client until the proxy ends it.
func (l *load) session(ctx context.Context) {
	began := time.Now()
	conn, err := pgx.ConnectConfig(ctx, l.config)
	if err != nil {
		l.counts(func() { l.refused[err.Error()]++ }, ctx)
		return
	}
	took := time.Since(began)
	l.counts(func() { l.longest = max(l.longest, took) }, ctx)
	defer conn.Close(context.Background())
	for first := true; ctx.Err() == nil; first = false {
		id, err := drawOne(conn)
		if err != nil {
			l.counts(func() { l.lost(err) }, ctx)
			return
		}
		if err := l.ids.Add(id); err != nil {
			l.t.Error(err)
			return
		}
		l.mu.Lock()
		l.drawn++
		if first {
			l.sessions++
			close(l.more)
			l.more = make(chan struct{})
		}
		l.mu.Unlock()
	}
}

// counts calls count, unless the clients themselves are at their end.
func (l *load) counts(count func(), ctx context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if ctx.Err() == nil {
		count()
	}
}

// lost records the end of a session.
func (l *load) lost(err error) {
	var told *pgconn.PgError
	if errors.As(err, &told) && told.Code == "57P01" {
		l.sentAway++
		return
	}
	l.ended[err.Error()]++
}

// reaches waits until this number of sessions have drawn an ID.
func (l *load) reaches(sessions int) {
	l.t.Helper()
	limit := time.After(server.Patience)
	for {
		l.mu.Lock()
		now, more := l.sessions, l.more
		l.mu.Unlock()
		if now >= sessions {
			return
		}
		select {
		case <-more:
		case <-limit:
			l.mu.Lock()
			defer l.mu.Unlock()
			l.t.Fatalf("%d sessions; expected %d (refused: %v)", now, sessions, l.refused)
		}
	}
}

// has returns the number of those sessions.
func (l *load) has() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sessions
}

// report compares what happened to the clients with the promises.
func (l *load) report(restarts int) {
	l.t.Helper()
	l.t.Logf("%d restarts: %d sessions, %d IDs, %d sent away with 57P01, ended otherwise %v, refused %v, "+
		"longest connect %v", restarts, l.sessions, l.drawn, l.sentAway, l.ended, l.refused, l.longest)
	if len(l.refused) > 0 {
		l.t.Errorf("attempts to connect failed: %v", l.refused)
	}
	if len(l.ended) > 0 {
		l.t.Errorf("sessions ended with something else than 57P01: %v", l.ended)
	}
	if l.sentAway < restarts/2 {
		l.t.Errorf("%d sessions were sent away by %d restarts; expected more", l.sentAway, restarts)
	}
}

func TestRestartsUnderLoadRefuseNoConnectionWhereTheSocketIsShared(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	m := &manager{t: t}
	address := m.listen("clients")
	args := program.ServeArgs(t, direct, "restarted")
	running := m.start(args...)
	running.told.await("READY=1")
	through := server.Parse(t, direct)
	through.Host = address
	l, end := begins(t, through.String())
	times := restarts(t)
	for i := range times {
		if i%2 == 0 { // otherwise at once, while clients log in
			l.reaches(l.has() + reconnecting)
		}
		running = m.restart(running, args...)
	}
	l.reaches(l.has() + reconnecting)
	end()
	running.Signal(15)
	running.End()
	l.report(times)
}
