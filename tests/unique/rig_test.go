package unique

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/internal/postgres"
	"pgflurry/migrations"
	"pgflurry/tests/support/recorder"
	"pgflurry/tests/support/server"
)

func TestMain(m *testing.M) { server.Main(m) }

// The layouts of these tests have few workers, so that another process soon takes over a worker. 0 is the function's,
// the others are for proxies.
const (
	oneWorker    = "41/0/1/12"
	threeWorkers = "41/0/2/12"
)

// function is the worker of the function in the database.
const function = 0

// short is a window that fits the short maximum of a room.
const short = "--window=1s"

// A room is a database with short windows, and every ID that was drawn in it.
type room struct {
	t       testing.TB
	cluster *postgres.Cluster // its server; nil: the shared one
	direct  string
	conn    *pgx.Conn // as superuser
	workers int64     // how many the layout has, for proxies and the function
	all     *recorder.Recorder
}

// newRoom makes a room on the shared server.
func newRoom(t testing.TB, layout string) *room {
	t.Helper()
	return furnish(t, server.MigratedWith(t, migrations.Settings{Layout: layout, DatabaseWorkers: 1}))
}

// ownServer makes a room on a server that the test may crash.
func ownServer(t testing.TB, layout string) *room {
	t.Helper()
	server.Binaries(t)
	cluster := server.Private(t, nil)
	url := cluster.URL("postgres")
	server.Migrate(t, url, migrations.Settings{Layout: layout, DatabaseWorkers: 1})
	r := furnish(t, url)
	r.cluster = cluster
	return r
}

func furnish(t testing.TB, url string) *room {
	t.Helper()
	r := &room{t: t, direct: url, conn: server.Connect(t, url), all: recorder.New("", 0)}
	server.ShortWindows(t, r.conn)
	r.workers = ask[int64](r, "SELECT count(*) FROM pgflurry.worker")
	return r
}

// switchTo switches to another server: the room asks that one from now on.
func (r *room) switchTo(url string) {
	r.t.Helper()
	r.direct, r.conn = url, server.Connect(r.t, url)
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

// patience limits every step. A step that needs longer hangs.
const patience = time.Minute

// until repeats a query until its answer is true.
func (r *room) until(sql string, args ...any) {
	r.t.Helper()
	server.Eventually(r.t, r.conn, "("+sql+")", args...)
}

// mark is the stored mark of a worker, in ticks.
func (r *room) mark(worker int64) int64 {
	r.t.Helper()
	return ask[int64](r, "SELECT reserved_until FROM pgflurry.worker WHERE worker = $1", worker)
}

func (r *room) workerOf(id int64) int64 { return id >> 12 & (r.workers - 1) }

func (r *room) tickOf(id int64) int64 { return (id >> 12) / r.workers }

// note records IDs, and fails the test if one came before.
func (r *room) note(ids ...int64) {
	r.t.Helper()
	if err := r.all.Add(ids...); err != nil {
		r.t.Fatal(err)
	}
}

// draw draws n IDs one by one, which must succeed, and records them.
func (r *room) draw(conn *pgx.Conn, n int) (ids []int64) {
	r.t.Helper()
	for range n {
		id, err := one(conn)
		if err != nil {
			r.t.Fatal(err)
		}
		r.note(id)
		ids = append(ids, id)
	}
	return ids
}

// drawUntil draws and records IDs until one is as wanted, and returns that one.
func (r *room) drawUntil(conn *pgx.Conn, wanted func(id int64) bool) int64 {
	r.t.Helper()
	deadline := time.Now().Add(patience)
	for {
		id := r.draw(conn, 1)[0]
		if wanted(id) {
			return id
		}
		if time.Now().After(deadline) {
			r.t.Fatalf("no such ID in %v; the last one is of worker %d", patience, r.workerOf(id))
		}
		server.Pause(r.t.Context(), time.Millisecond) // leaves the processor to what it waits for
	}
}

// by returns a check: is an ID of this worker?
func (r *room) by(worker int64) func(id int64) bool {
	return func(id int64) bool { return r.workerOf(id) == worker }
}

// byProxy says whether an ID is of a proxy's worker.
func (r *room) byProxy(id int64) bool { return r.workerOf(id) != function }

// one draws an ID over the simple protocol.
func one(conn *pgx.Conn) (id int64, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	err = conn.QueryRow(ctx, "SELECT next_snowflake()", pgx.QueryExecModeSimpleProtocol).Scan(&id)
	return id, err
}

// again tries to connect until it can.
func (r *room) again(url string) *pgx.Conn {
	r.t.Helper()
	deadline := time.Now().Add(patience)
	for {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		conn, err := pgx.Connect(ctx, url)
		cancel()
		if err == nil {
			r.t.Cleanup(func() { conn.Close(context.Background()) })
			return conn
		}
		if time.Now().After(deadline) {
			r.t.Fatal(err)
		}
	}
}

func hostAndPort(t testing.TB, address string) (host, port string) {
	t.Helper()
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	return host, port
}
