package unique

import (
	"context"
	"errors"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/internal/postgres"
	"pgflurry/migrations"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/recorder"
	"pgflurry/tests/support/server"
)

// A move is one story of a test, with every ID that was drawn in it.
type move struct {
	*testing.T
	mu  sync.Mutex
	ids *recorder.Recorder
}

func newMove(t *testing.T) *move {
	return &move{T: t, ids: recorder.New("", 0)}
}

// statement draws 500 IDs. The proxy answers it from memory if it may.
const statement, each = "SELECT next_snowflake() FROM generate_series(1, 500)", 500

// take draws 10,000 IDs over an open session, and compares them. It returns the error of the session.
func (m *move) take(conn *pgx.Conn) error {
	m.Helper()
	for range 20 {
		rows, _ := conn.Query(server.Within(m), statement)
		ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		m.mu.Lock()
		twice := m.ids.Add(ids...)
		m.mu.Unlock()
		if twice != nil {
			m.Fatal(twice)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// draw draws over an open session that must give IDs.
func (m *move) draw(conns ...*pgx.Conn) {
	m.Helper()
	for _, conn := range conns {
		if err := m.take(conn); err != nil {
			m.Fatalf("%s: %v", conn.Config().Database, err)
		}
	}
}

// fromAll draws from all sessions at once, in several rounds. A proxy whose lease has ended may still wait for one.
func (m *move) fromAll(conns ...*pgx.Conn) {
	m.Helper()
	var all sync.WaitGroup
	ctx := server.Within(m)
	for _, conn := range conns {
		all.Go(func() {
			for rounds := 0; rounds < 3; {
				var said *pgconn.PgError
				switch err := m.take(conn); {
				case err == nil:
					rounds++
				case errors.As(err, &said) && said.Code == "57P03" && ctx.Err() == nil:
					server.Pause(ctx, 20*time.Millisecond)
				default:
					m.Errorf("%s: %v", conn.Config().Database, err)
					return
				}
			}
		})
	}
	all.Wait()
}

// last draws for as long as there are IDs: the server is gone.
func (m *move) last(conns ...*pgx.Conn) {
	m.Helper()
	for _, conn := range conns {
		_ = m.take(conn)
	}
}

// refused wants an error with this SQLSTATE.
func (m *move) refused(conn *pgx.Conn, code string) {
	m.Helper()
	var said *pgconn.PgError
	if err := m.take(conn); !errors.As(err, &said) || said.Code != code {
		m.Fatalf("%s gave IDs or another error: %v; want SQLSTATE %s", conn.Config().Database, err, code)
	}
}

// up migrates a database. Its server is the test's own, whose restarts count.
func (m *move) up(at string, settings migrations.Settings) {
	m.Helper()
	if err := migrations.Up(server.Within(m), at, settings); err != nil {
		m.Fatalf("up: %v (%s)", err, server.Hint(err))
	}
}

// home is a new namespace with short windows, in a database of a server. A restart of the server counts.
func (m *move) home(cluster *postgres.Cluster, name string) string {
	m.Helper()
	at := m.database(cluster, name)
	m.up(at, migrations.Settings{})
	conn := server.Connect(m, at)
	server.Do(m, conn, "UPDATE pgflurry.namespace SET max_window = '2 s', skew = '100 ms', quarantine = '3 s', "+
		"restart_quarantine = NULL")
	return at
}

func (m *move) database(cluster *postgres.Cluster, name string) string {
	m.Helper()
	server.Exec(m, cluster.URL("postgres"), "CREATE DATABASE "+name)
	return server.In(m, cluster.URL("postgres"), name)
}

// proxy is a proxy with an ID database, and a worker. reached is the URL through which it leads.
func (m *move) proxy(reached, node string, more ...string) *program.Proxy {
	m.Helper()
	flags := append([]string{"--window", "2s", "--id-database", "ids", "--id-auth", "trust"}, more...)
	return program.Serve(m, reached, node, flags...)
}

// idDatabase is a session of a proxy's ID database.
func (m *move) idDatabase(p *program.Proxy) *pgx.Conn {
	m.Helper()
	return server.Connect(m, m.idURL(p))
}

func (m *move) idURL(p *program.Proxy) string {
	m.Helper()
	u, err := url.Parse(p.URL)
	if err != nil {
		m.Fatal(err)
	}
	u.Path = "/ids"
	return u.String()
}

// run runs the program, and wants it to succeed.
func (m *move) run(args ...string) string {
	m.Helper()
	out, err := m.try(args...)
	if err != nil {
		m.Fatalf("pgflurry %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func (m *move) try(args ...string) (string, error) {
	m.Helper()
	out, err := exec.CommandContext(server.Within(m), program.Path(m), args...).CombinedOutput()
	return string(out), err
}

// tool runs a program of PostgreSQL.
func (m *move) tool(name string, args ...string) {
	m.Helper()
	if out, err := exec.CommandContext(server.Within(m), server.Tool(m, name), args...).CombinedOutput(); err != nil {
		m.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

// copySchema copies schema pgflurry and the functions in public, with all rows.
func (m *move) copySchema(from, to string) {
	m.Helper()
	file := filepath.Join(m.TempDir(), "dump.sql")
	m.tool("pg_dump", "--schema=pgflurry", "--no-owner", "--file", file, from)
	m.tool("psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-f", file, to)
}

// again is a session that is opened anew until it gives IDs, for as long as a test may take.
func (m *move) again(open func() (*pgx.Conn, error)) *pgx.Conn {
	m.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Second)
	defer cancel()
	for {
		conn, err := open()
		if err == nil {
			if err = m.take(conn); err == nil {
				return conn
			}
			conn.Close(context.Background())
		}
		server.Pause(ctx, 50*time.Millisecond)
		if ctx.Err() != nil {
			m.Fatalf("no session gives IDs: %v", err)
		}
	}
}

// anew opens sessions to a URL until one gives IDs.
func (m *move) anew(at string) *pgx.Conn {
	m.Helper()
	conn := m.again(func() (*pgx.Conn, error) { return pgx.Connect(server.Within(m), at) })
	m.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

// byProxy waits until the IDs of a session are of a worker of proxies, so from memory.
func (m *move) byProxy(conn *pgx.Conn) {
	m.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Second)
	defer cancel()
	for {
		id := server.Value[int64](m, conn, "SELECT next_snowflake()")
		m.mu.Lock()
		err := m.ids.Add(id)
		m.mu.Unlock()
		if err != nil {
			m.Fatal(err)
		}
		if id>>12&1023 >= 16 {
			return
		}
		server.Pause(ctx, 50*time.Millisecond)
		if ctx.Err() != nil {
			m.Fatal("the proxy answers nothing from memory")
		}
	}
}
