// Package product uses the built program as a user does. It runs the demo from its first line to its end, looks for
// leftovers, and runs the images.
package product

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/internal/postgres"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

func TestMain(m *testing.M) { server.Main(m) }

// demo is a running "pgflurry demo".
type demo struct {
	*program.Process
	folder string // --data
	paste  string // the line it prints for a shell
	url    string // the address in that line
}

// binaries skips a test where only Docker has a PostgreSQL. The test needs a server that is a child of the demo.
func binaries(t *testing.T) {
	t.Helper()
	if _, err := postgres.Find(""); err != nil {
		t.Skipf("this machine has Docker and no server binaries, which this test is about: %v", err)
	}
}

// launch starts a demo on a free port, in a process group of its own, as a terminal would.
func launch(t *testing.T, folder string, args ...string) *demo {
	t.Helper()
	cmd := exec.Command(program.Path(t),
		append([]string{"demo", "--listen", "127.0.0.1:0", "--data", folder}, args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return &demo{Process: program.StartCommand(t, cmd), folder: folder}
}

// ready waits until the demo has printed all it prints.
func (d *demo) ready() *demo {
	d.paste = strings.TrimSpace(d.Line("psql '"))
	d.url = strings.Split(d.paste, "'")[1]
	d.Line("Ctrl-C ends the demo")
	return d
}

// interrupt sends SIGINT to the whole process group, as a terminal does on Ctrl-C.
func (d *demo) interrupt(t *testing.T) {
	t.Helper()
	if err := syscall.Kill(-d.PID(), syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
}

// leavesNothing checks that no process uses the demo's folder any more, and that the folder holds only the demo's data.
func (d *demo) leavesNothing(t *testing.T) {
	t.Helper()
	if left := processesNaming(t, d.folder); len(left) > 0 {
		t.Errorf("the demo has left processes:\n%s", strings.Join(left, "\n"))
	}
	var names []string
	entries, err := os.ReadDir(d.folder)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	data := []string{
		"postgres", "postgres.lock", "postgres.log", "postgres.port",
		"docker", "docker.lock", "docker.log", "docker.port",
	}
	for _, name := range names {
		if !slices.Contains(data, name) {
			t.Errorf("the demo has left %s in its data folder", name)
		}
	}
	if _, err := os.Stat(filepath.Join(d.folder, "postgres", "postmaster.pid")); err == nil {
		t.Error("the demo has left postmaster.pid: its server did not end in order")
	}
}

// processesNaming returns the command lines that contain a text.
func processesNaming(t *testing.T, text string) (found []string) {
	t.Helper()
	paths, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil || len(paths) == 0 {
		t.Fatalf("/proc does not list processes: %v", err)
	}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if line := strings.ReplaceAll(string(content), "\x00", " "); err == nil && strings.Contains(line, text) {
			found = append(found, line)
		}
	}
	return found
}

// waitForNoProcess waits for the end of processes whose parent is dead.
func waitForNoProcess(t *testing.T, naming string) {
	t.Helper()
	ctx := soon(t)
	for look := time.NewTicker(20 * time.Millisecond); ; {
		left := processesNaming(t, naming)
		if len(left) == 0 {
			return
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			t.Fatalf("still running:\n%s", strings.Join(left, "\n"))
		}
	}
}

// psql runs the printed line in a shell, with one psql in it, and returns the ID.
func (d *demo) psql(t *testing.T) int64 {
	t.Helper()
	cmd := exec.Command("sh", "-c", d.paste+" -XAt")
	cmd.Env = append(os.Environ(), "PGCONNECT_TIMEOUT=10")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", d.paste, err)
	}
	id, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
	if err != nil || id <= 0 {
		t.Fatalf("psql printed %q, expected an ID", out)
	}
	return id
}

// draw draws one ID in each of pgx's modes.
func draw(t *testing.T, conn *pgx.Conn) (ids []int64) {
	t.Helper()
	for _, mode := range []pgx.QueryExecMode{
		pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeDescribeExec,
		pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol,
	} {
		var id int64
		if err := conn.QueryRow(t.Context(), "SELECT next_snowflake()", mode).Scan(&id); err != nil {
			t.Fatalf("%v: %v", mode, err)
		}
		ids = append(ids, id)
	}
	return ids
}

// unique fails if an ID came twice.
func unique(t *testing.T, ids []int64) {
	t.Helper()
	sorted := slices.Sorted(slices.Values(ids))
	if compact := slices.Compact(slices.Clone(sorted)); len(compact) != len(ids) {
		t.Errorf("%d IDs, but only %d different ones: %v", len(ids), len(compact), sorted)
	}
}

// printed returns the IDs that the demo printed as proof.
func (d *demo) printed(t *testing.T) (ids []int64) {
	t.Helper()
	lines := bufio.NewScanner(strings.NewReader(d.Output()))
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if len(words) < 2 || words[1] != "worker" {
			continue
		}
		id, err := strconv.ParseInt(words[0], 10, 64)
		if err != nil {
			t.Fatalf("%q is no line of an ID: %v", lines.Text(), err)
		}
		ids = append(ids, id)
	}
	return ids
}

// workersHeld counts the leases, on a connection past the proxy.
func workersHeld(t *testing.T, url string) (held int) {
	t.Helper()
	const sql = "SELECT count(*) FROM pgflurry.worker WHERE kind = 'proxy' AND owner IS NOT NULL " +
		"AND released_at IS NULL"
	if err := server.Connect(t, url).QueryRow(t.Context(), sql).Scan(&held); err != nil {
		t.Fatal(err)
	}
	return held
}

// soon returns a context for one step of a test.
func soon(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func within5s(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	t.Cleanup(cancel)
	return ctx
}
