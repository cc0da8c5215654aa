package server

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"pgflurry/internal/fault"
	"pgflurry/internal/postgres"
)

// running is the server of this test package, while Main runs.
var running struct {
	admin   string            // URL of a database to make others from
	cluster *postgres.Cluster // nil unless it is a private cluster from binaries
}

// sideBySide is how many parallel tests run at once, if nobody says -parallel. They wait for most of their time: for a
// quarantine, a look, the start of a server.
const sideBySide = "8"

// Main runs the tests of a package with a server and exits.
func Main(m *testing.M) { os.Exit(Run(m)) }

// MainNoLeak is Main, and fails if a goroutine outlives all tests. Other than with NoLeak, they may run side by side.
func MainNoLeak(m *testing.M) { goleak.VerifyTestMain(suite{m}) }

type suite struct{ m *testing.M }

func (s suite) Run() int { return Run(s.m) }

// Run is Main for a package that has more to clean up. It returns the exit code.
func Run(m *testing.M) int {
	if err := flag.Set("test.parallel", sideBySide); err != nil { // the command line is read later, and wins
		panic(err) // package testing knows its flag
	}
	return Watched(func() (code int) {
		stop, err := startServer()
		if err != nil {
			fmt.Fprintln(os.Stderr, "the tests need a PostgreSQL server: "+err.Error())
			if advice := fault.HintOf(err); advice != "" {
				fmt.Fprintln(os.Stderr, "hint: "+advice)
			}
			return 1
		}
		defer func() {
			if err := stop(); err != nil {
				fmt.Fprintln(os.Stderr, err)
				code = 1
			}
		}()
		return m.Run()
	})
}

func startServer() (stop func() error, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	if url := os.Getenv("PGFLURRY_TEST_POSTGRES"); url != "" {
		running.admin = url
		return dropTemplate, ping(ctx, url)
	}
	if os.Getenv("PGFLURRY_TEST_DOCKER") == "1" {
		return startDocker()
	}
	return startPrivate(ctx)
}

// locate does what the demo does, once: it runs programs. Variables may name the binaries or the image.
var locate = sync.OnceValues(func() (postgres.Provider, error) {
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	provider, err := postgres.Locate(ctx, os.Getenv("PGFLURRY_TEST_BINARIES"), "")
	if err == nil && provider.Docker.Image != "" {
		provider.Docker.Image = image()
	}
	return provider, err
})

// image returns the image for tests with Docker.
func image() string {
	if named := os.Getenv("PGFLURRY_TEST_IMAGE"); named != "" {
		return named
	}
	return postgres.DefaultImage
}

// hba is described in the package comment. The server takes the first line that fits.
const hba = `host all +login_scram 127.0.0.1/32 scram-sha-256
host all +login_md5 127.0.0.1/32 md5
host all +login_password 127.0.0.1/32 password
local all +login_scram scram-sha-256
local all +login_md5 md5
local all +login_password password
local all all trust
host all all 127.0.0.1/32 trust
local replication all trust
host replication all 127.0.0.1/32 trust
`

// testOptions make a server quick and talkative, with many connections. Data may be lost if the machine crashes, but
// not if the server does.
func testOptions() map[string]string {
	return map[string]string{
		"fsync": "off", "full_page_writes": "off", "max_connections": "200", "shared_buffers": "64MB",
		"max_wal_senders": "4", "wal_level": "logical", "track_commit_timestamp": "on",
		"max_wal_size": "128MB", // the folder may be in memory
		// After a crash the server waits for its children. One that has a connection and no startup packet yet gets no
		// signal, so the server would wait for authentication_timeout, a minute by default.
		"authentication_timeout": "15s",
	}
}

func startPrivate(ctx context.Context) (stop func() error, err error) {
	provider, err := locate()
	if err != nil {
		return nil, err
	}
	forgetClients, err := clientsFor(provider)
	if err != nil {
		return nil, err
	}
	dir, err := publicDir()
	if err != nil {
		return nil, err
	}
	data := filepath.Join(dir, "data")
	if err = seed(ctx, provider, data); err == nil {
		running.cluster, err = postgres.Start(ctx, postgres.Settings{
			Provider: provider, Data: data, HBA: hba, Options: testOptions(),
		})
	}
	if err != nil {
		return nil, err
	}
	running.admin = running.cluster.URL("postgres")
	stop = func() error {
		defer forgetClients()
		ctx, cancel := context.WithTimeout(context.Background(), Patience)
		defer cancel()
		return running.cluster.Stop(ctx)
	}
	if err := execute(ctx, running.admin, rolesSQL); err != nil {
		_ = stop()
		return nil, err
	}
	return stop, nil
}

// PublicDir returns a new folder that the server's user can reach. The test removes it at its end. If root runs the
// tests, that user cannot reach t.TempDir.
func PublicDir(t testing.TB) string {
	t.Helper()
	dir, err := publicDir()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// publicDir makes the folder in TMPDIR if that was set, else in memory if there is enough.
func publicDir() (string, error) {
	parent := ""
	if !guard.chosen {
		parent = memory()
	}
	dir, err := Folder(parent)
	if err != nil || postgres.Passable(filepath.Join(dir, "data")) == nil {
		return dir, err
	}
	os.RemoveAll(dir) // that user cannot reach TMPDIR
	return Folder("/tmp")
}
