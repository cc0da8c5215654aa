package leasing

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/internal/connect"
	"pgflurry/internal/lease"
	"pgflurry/migrations"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

func TestMain(m *testing.M) { server.MainNoLeak(m) }

// A room is a migrated database of its own, and a superuser's connection to it.
type room struct {
	t         testing.TB
	url       string
	conn      *pgx.Conn
	namespace string
	owners    int
}

// small has the workers 1 to 7 for proxies, tiny only 1.
const (
	small = "41/0/3/12"
	tiny  = "41/0/1/12"
)

func newRoom(t testing.TB, layout string) *room {
	t.Helper()
	program.Path(t) // built before a grant begins to run
	return enter(t, server.MigratedWith(t, migrations.Settings{Layout: layout, DatabaseWorkers: 1}))
}

// enter makes a room of a database that is already migrated.
func enter(t testing.TB, url string) *room {
	t.Helper()
	r := &room{t: t, url: url, conn: server.Connect(t, url)}
	r.namespace = ask[string](r, "SELECT id::text FROM pgflurry.namespace")
	return r
}

// ask returns the only value of a query.
func ask[T any](r *room, sql string, args ...any) T {
	r.t.Helper()
	return server.Value[T](r.t, r.conn, sql, args...)
}

func (r *room) do(sql string, args ...any) {
	r.t.Helper()
	server.Do(r.t, r.conn, sql, args...)
}

// context limits one call, to far more time than it needs.
func (r *room) context() context.Context { r.t.Helper(); return server.Within(r.t) }

// pass sets the database's clock forward.
func (r *room) pass(d time.Duration) { r.t.Helper(); server.StepClock(r.t, r.conn, d) }

func (r *room) now() int64 {
	r.t.Helper()
	return ask[int64](r, "SELECT pgflurry.ticks(clock_timestamp())")
}

func (r *room) mark(worker int) int64 {
	r.t.Helper()
	return ask[int64](r, "SELECT reserved_until FROM pgflurry.worker WHERE worker = $1", worker)
}

// store opens the lease's side of the room.
func (r *room) store(url string) *lease.Postgres {
	r.t.Helper()
	config, err := pgconn.ParseConfig(url)
	if err != nil {
		r.t.Fatal(err)
	}
	store := lease.NewPostgres(config, connect.Rules{})
	r.t.Cleanup(store.Close)
	return store
}

// request asks for a worker for a node, with a new owner.
func (r *room) request(node string) lease.Request {
	r.owners++
	return lease.Request{
		Namespace: r.namespace, Owner: fmt.Sprintf("00000000-0000-4000-8000-%012d", r.owners),
		Node: node, Address: "127.0.0.1:6532", Version: "test", Window: 5000,
	}
}

// acquire takes a worker for a node, which must succeed.
func (r *room) acquire(s lease.Store, node string) lease.Acquired {
	r.t.Helper()
	a, err := s.Acquire(r.context(), r.request(node))
	if err != nil {
		r.t.Fatalf("acquire for %s: %v", node, err)
	}
	if a.Grant.Until <= a.Grant.From || a.Grant.Until != r.mark(a.Worker) {
		r.t.Fatalf("granted %+v, but the mark is %d", a.Grant, r.mark(a.Worker))
	}
	return a
}

// renewal is the next request of the holder of a.
func renewal(a lease.Acquired, wanted int64) lease.Renewal {
	return lease.Renewal{Lease: a.Lease, Acknowledged: a.Grant.Until, Wanted: wanted, Window: 60_000}
}

func (r *room) renew(s lease.Store, asked lease.Renewal) lease.Renewed {
	r.t.Helper()
	renewed, err := s.Renew(r.context(), asked)
	if err != nil {
		r.t.Fatal(err)
	}
	return renewed
}

func (r *room) release(s lease.Store, l lease.Lease) {
	r.t.Helper()
	if err := s.Release(r.context(), l, 0); err != nil {
		r.t.Fatal(err)
	}
}

const (
	window     = 60 * time.Second
	skew       = 2 * time.Second
	quarantine = 120 * time.Second
)

// until repeats a query until its answer is true.
func (r *room) until(sql string, args ...any) {
	r.t.Helper()
	server.Eventually(r.t, r.conn, "("+sql+")", args...)
}
