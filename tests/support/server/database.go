package server

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"pgflurry/migrations"
	"pgflurry/postgres"
)

//go:embed roles.sql
var rolesSQL string

// made counts the databases of this process;
// their names carry its number, for servers that several test packages share.
var made atomic.Int64

// Database makes an empty database, which is dropped when the test ends, and returns its URL as superuser.
func Database(t testing.TB) string {
	t.Helper()
	if running.admin == "" {
		t.Fatal("no server is running: the test package needs func TestMain(m *testing.M) { server.Main(m) }")
	}
	name := fmt.Sprintf("test_%d_%d", os.Getpid(), made.Add(1))
	Exec(t, running.admin, "CREATE DATABASE "+name)
	t.Cleanup(func() { Exec(t, running.admin, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)") })
	return In(t, running.admin, name)
}

// Migrated is a Database with the namespace of the default layout and all functions.
func Migrated(t testing.TB) string {
	t.Helper()
	return MigratedWith(t, migrations.Settings{})
}

// MigratedWith is Migrated with another layout, epoch, unit or number of database workers.
func MigratedWith(t testing.TB, settings migrations.Settings) string {
	t.Helper()
	url := Database(t)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := migrations.Up(ctx, url, settings); err != nil {
		t.Fatal(err)
	}
	return url
}

// TemplateCopy copies a database on the same server, as a template gives it: its sessions end first. The copy is
// dropped when the test ends.
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

// Parse takes a URL apart.
func Parse(t testing.TB, at string) *url.URL {
	t.Helper()
	u, err := url.Parse(at)
	if err != nil {
		t.Fatalf("%q is no URL: %v", at, err)
	}
	return u
}

// Name is the name of the database of a URL.
func Name(t testing.TB, at string) string {
	t.Helper()
	return strings.TrimPrefix(Parse(t, at).Path, "/")
}

// Environment is what PostgreSQL's programs and drivers of all languages read of a URL, without the password.
func Environment(t testing.TB, at string) []string {
	t.Helper()
	u := Parse(t, at)
	return []string{
		"PGHOST=" + u.Hostname(), "PGPORT=" + u.Port(), "PGDATABASE=" + Name(t, at), "PGUSER=" + u.User.Username(),
		"PGSSLMODE=disable",
	}
}

// In is url with another database name.
func In(t testing.TB, base, database string) string {
	t.Helper()
	u := Parse(t, base)
	u.Path = "/" + database
	return u.String()
}

// As is url with another role; password may be empty.
func As(t testing.TB, base, role, password string) string {
	t.Helper()
	u := Parse(t, base)
	u.User = url.UserPassword(role, password)
	return u.String()
}

// Connect opens a connection that is closed when the test ends.
func Connect(t testing.TB, url string) *pgx.Conn {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
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
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := execute(ctx, url, script); err != nil {
		t.Fatalf("%v\nin %s", err, script)
	}
}

// Cluster is the private cluster, for tests that read its log or signal its processes; the test fails on another kind
// of server.
func Cluster(t testing.TB) *postgres.Cluster {
	t.Helper()
	if running.cluster == nil {
		t.Fatal("this test needs the private cluster: unset PGFLURRY_TEST_POSTGRES and PGFLURRY_TEST_DOCKER")
	}
	return running.cluster
}

// NoLeak fails the test if a goroutine that it started is alive after it and all its cleanups registered later.
// Call it first in the test.
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
		return // a test may have cut it; nobody is left to tell
	}
}
