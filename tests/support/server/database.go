package server

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"pgflurry/internal/postgres"
	"pgflurry/migrations"
)

//go:embed roles.sql
var rolesSQL string

// made counts the databases of this process. Their names contain the process number, because several test packages may
// share a server.
var made atomic.Int64

// Database makes an empty database and returns its URL as superuser. The test drops it at its end.
func Database(t testing.TB) string {
	t.Helper()
	return database(t, "")
}

// database is Database with options of CREATE DATABASE.
func database(t testing.TB, options string) string {
	t.Helper()
	name := fmt.Sprintf("test_%d_%d", os.Getpid(), made.Add(1))
	asMaker(t, "CREATE DATABASE "+name+options)
	t.Cleanup(func() { asMaker(t, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)") })
	return In(t, admin(t), name)
}

// maker is a session that makes and drops databases. It stays, because a login takes more time than either.
var maker struct {
	sync.Mutex
	conn *pgx.Conn
}

func asMaker(t testing.TB, statement string) {
	t.Helper()
	maker.Lock()
	defer maker.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	var err error
	if maker.conn == nil || maker.conn.IsClosed() || maker.conn.Ping(ctx) != nil {
		maker.conn, err = pgx.Connect(ctx, admin(t))
	}
	if err == nil {
		_, err = maker.conn.Exec(ctx, statement)
	}
	if err != nil {
		t.Fatalf("%v\nin %s", err, statement)
	}
}

// admin returns the URL of the database from which tests make others.
func admin(t testing.TB) string {
	t.Helper()
	if running.admin == "" {
		t.Fatal("no server is running: the test package needs func TestMain(m *testing.M) { server.Main(m) }")
	}
	return running.admin
}

// MigratedWith is Migrated with other settings.
func MigratedWith(t testing.TB, settings migrations.Settings) string {
	t.Helper()
	url := Database(t)
	Migrate(t, url, settings)
	return url
}

// Migrate migrates a database. If the settings do not say otherwise, a start of its server keeps no worker back. So
// no test waits a minute for one in passing.
func Migrate(t testing.TB, url string, settings migrations.Settings) {
	t.Helper()
	if settings.RestartQuarantine == nil && settings.JoinURL == "" {
		settings.RestartQuarantine = new(time.Duration)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := migrations.Up(ctx, url, settings); err != nil {
		t.Fatal(err)
	}
}

// TemplateCopy ends the sessions of a database and copies it on the same server, as a template is copied. The test
// drops the copy at its end.
func TemplateCopy(t testing.TB, url, name string) string {
	t.Helper()
	Alone(t, url)
	admin := In(t, url, "postgres")
	Exec(t, admin, "CREATE DATABASE "+name+" TEMPLATE "+Name(t, url))
	t.Cleanup(func() { Exec(t, admin, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)") })
	return In(t, url, name)
}

// Alone ends all sessions of a database.
func Alone(t testing.TB, url string) {
	t.Helper()
	admin := Connect(t, In(t, url, "postgres"))
	defer closeConn(admin)
	const sessions = "FROM pg_stat_activity WHERE datname = $1"
	Do(t, admin, "SELECT pg_terminate_backend(pid) "+sessions, Name(t, url))
	Eventually(t, admin, "NOT EXISTS (SELECT "+sessions+")", Name(t, url))
}

// Parse parses a URL.
func Parse(t testing.TB, at string) *url.URL {
	t.Helper()
	u, err := url.Parse(at)
	if err != nil {
		t.Fatalf("%q is no URL: %v", at, err)
	}
	return u
}

// Name returns the database of a URL.
func Name(t testing.TB, at string) string {
	t.Helper()
	return strings.TrimPrefix(Parse(t, at).Path, "/")
}

// Environment returns the variables that PostgreSQL's programs and the drivers of all languages read, without the
// password.
func Environment(t testing.TB, at string) []string {
	t.Helper()
	u := Parse(t, at)
	return []string{
		"PGHOST=" + u.Hostname(), "PGPORT=" + u.Port(), "PGDATABASE=" + Name(t, at), "PGUSER=" + u.User.Username(),
		"PGSSLMODE=disable",
	}
}

// In returns base with another database.
func In(t testing.TB, base, database string) string {
	t.Helper()
	u := Parse(t, base)
	u.Path = "/" + database
	return u.String()
}

// As returns base with another role. The password may be empty.
func As(t testing.TB, base, role, password string) string {
	t.Helper()
	u := Parse(t, base)
	u.User = url.UserPassword(role, password)
	return u.String()
}

// Connect opens a connection. The test closes it at its end.
func Connect(t testing.TB, url string) *pgx.Conn {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeConn(conn) })
	return conn
}

// Exec runs a script on a connection of its own.
func Exec(t testing.TB, url, script string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	if err := execute(ctx, url, script); err != nil {
		t.Fatalf("%v\nin %s", err, script)
	}
}

// Cluster returns the private cluster, for tests that read its log or signal its processes. With another kind of server
// the test fails.
func Cluster(t testing.TB) *postgres.Cluster {
	t.Helper()
	if running.cluster == nil {
		t.Fatal("this test needs the private cluster: unset PGFLURRY_TEST_POSTGRES and PGFLURRY_TEST_DOCKER")
	}
	return running.cluster
}

// NoLeak fails the test if a goroutine of it is alive after the test and its later cleanups. Call it first in the test.
func NoLeak(t testing.TB) {
	t.Helper()
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, before) })
}

func execute(ctx context.Context, url, script string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer closeConn(conn)
	_, err = conn.PgConn().Exec(ctx, script).ReadAll()
	return err
}

func ping(ctx context.Context, url string) error { return execute(ctx, url, "SELECT") }

func closeConn(conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := conn.Close(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return // a test may have cut the connection
	}
}
