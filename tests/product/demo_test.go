package product

import (
	"errors"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

func TestDemoServesRealClientsAndLeavesOnlyItsDataFolder(t *testing.T) {
	d := launch(t, filepath.Join(server.PublicDir(t), "data")).ready()
	said := d.Output()
	for _, step := range []string{
		"data folder", "making a PostgreSQL", "starting PostgreSQL", "installing pgflurry", "starting the proxy",
		"First IDs",
	} {
		var found bool
		if _, said, found = strings.Cut(said, step); !found {
			t.Errorf("the demo prints no step %q in its place:\n%s", step, d.Output())
		}
	}
	ids := d.printed(t)
	if len(ids) != 4 {
		t.Errorf("the demo's proof has %d IDs, expected 4:\n%s", len(ids), d.Output())
	}
	ids = append(ids, d.psql(t))
	conn := server.Connect(t, d.url)
	ids = append(ids, draw(t, conn)...)
	server.Exec(t, d.url, `CREATE TABLE kept (id bigint DEFAULT next_snowflake() PRIMARY KEY);
		INSERT INTO kept SELECT FROM generate_series(1, 1000)`)
	ids = append(ids, keys(t, d.url)...)
	unique(t, ids)

	d.interrupt(t)
	if code := d.End(); code != 0 {
		t.Errorf("Ctrl-C ends the demo with %d, expected 0:\n%s", code, d.Output())
	}
	d.leavesNothing(t)
	// The open session got a FATAL error before it ended.
	_, err := conn.WaitForNotification(soon(t))
	if gone, ok := errors.AsType[*pgconn.PgError](err); !ok || gone.Code != "57P01" {
		t.Errorf("an idle session ends with %v, expected 57P01", err)
	}

	// A second run continues in the same folder.
	again := launch(t, d.folder).ready()
	if held := workersHeld(t, again.url); held != 1 {
		t.Errorf("%d workers are held in the second run, expected 1: the first one's was released", held)
	}
	if strings.Contains(again.Output(), "level=WARN") {
		t.Errorf("the second run warns, though its server is where the first one's was:\n%s", again.Output())
	}
	ids = append(ids, again.printed(t)...)
	ids = append(ids, again.psql(t))
	unique(t, ids)
	kept := keys(t, again.url)
	if !slices.Equal(slices.Sorted(slices.Values(kept)), slices.Sorted(slices.Values(ids[10:1010]))) {
		t.Errorf("the second run finds %d rows of the first one's 1000, or other ones", len(kept))
	}
	again.interrupt(t)
	if code := again.End(); code != 0 {
		t.Errorf("Ctrl-C ends the second demo with %d, expected 0", code)
	}
	again.leavesNothing(t)
}

// keys returns the keys of the table that the first run made.
func keys(t *testing.T, url string) []int64 {
	t.Helper()
	rows, err := server.Connect(t, url).Query(t.Context(), "SELECT id FROM kept")
	if err != nil {
		t.Fatal(err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestDemoInterruptedWhileItStartsLeavesNothingRunning(t *testing.T) {
	binaries(t)
	d := launch(t, filepath.Join(server.PublicDir(t), "data"))
	d.Line("making a PostgreSQL")
	d.interrupt(t)
	if code := d.End(); code != 1 {
		t.Errorf("a demo that was interrupted before it was ready ends with %d, expected 1:\n%s", code, d.Output())
	}
	d.leavesNothing(t)
	again := launch(t, d.folder).ready()
	again.psql(t)
	again.interrupt(t)
	again.End()
	again.leavesNothing(t)
}

func TestDemoKilledTakesItsServerAlongAndTheNextRunRepeatsNoID(t *testing.T) {
	binaries(t)
	d := launch(t, filepath.Join(server.PublicDir(t), "data")).ready()
	conn := server.Connect(t, d.url)
	ids := append(d.printed(t), draw(t, conn)...)
	d.Signal(syscall.SIGKILL)
	d.End()
	waitForNoProcess(t, d.folder)
	again := launch(t, d.folder).ready()
	ids = append(ids, again.printed(t)...)
	ids = append(ids, draw(t, server.Connect(t, again.url))...)
	unique(t, ids)
	again.interrupt(t)
	again.End()
	again.leavesNothing(t)
}

func TestDemoNamesTheFlagOfAPortInUse(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	folder := filepath.Join(server.PublicDir(t), "data")
	p := program.Start(t, "demo", "--listen", taken.Addr().String(), "--data", folder)
	if code := p.End(); code != 1 {
		t.Errorf("the demo ends with %d, expected 1", code)
	}
	p.Line("--listen "+taken.Addr().String(), "address already in use")
	if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a demo that cannot listen has made its data folder: %v", err)
	}
}

func TestDemoWithoutPostgreSQLSaysHowToInstallItInUnderFiveSeconds(t *testing.T) {
	empty := t.TempDir()
	folder := filepath.Join(server.PublicDir(t), "data")
	cmd := exec.CommandContext(within5s(t), program.Path(t), "demo", "--listen", "127.0.0.1:0",
		"--data", folder, "--bin", empty)
	cmd.Env = []string{"PATH=" + empty}
	out, err := cmd.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 1 {
		t.Errorf("the demo ends with %v, expected exit status 1", err)
	}
	for _, want := range []string{
		"no PostgreSQL server 15 or newer was found; looked in " + empty, "hint: ", "install",
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the demo says %q, expected %q in it", out, want)
		}
	}
	if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a demo without PostgreSQL has made its data folder: %v", err)
	}
}

func TestDemoUsesAGivenServerAndLeavesItRunning(t *testing.T) {
	url := server.Database(t)
	folder := filepath.Join(server.PublicDir(t), "data")
	d := launch(t, folder, "--postgres", url).ready()
	d.psql(t)
	if held := workersHeld(t, url); held != 1 {
		t.Errorf("%d workers are held, expected 1", held)
	}
	d.interrupt(t)
	if code := d.End(); code != 0 {
		t.Errorf("Ctrl-C ends the demo with %d, expected 0", code)
	}
	if held := workersHeld(t, url); held != 0 {
		t.Errorf("%d workers are held after the end, expected 0", held)
	}
	if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a demo on a given server has made a data folder: %v", err)
	}
}

func TestDemoBeforeAServersUnixSocketListensOnAPrivateOne(t *testing.T) {
	cluster := server.Private(t, nil)
	there := server.Parse(t, cluster.URL("postgres"))
	there.Host, there.RawQuery = "", url.Values{
		"host": {cluster.SocketDir}, "port": {strconv.Itoa(cluster.Port)}, "sslmode": {"disable"},
	}.Encode()
	cmd := exec.Command(program.Path(t), "demo", "--postgres", there.String())
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	d := (&demo{Process: program.StartCommand(t, cmd)}).ready()
	folder := server.Parse(t, d.url).Query().Get("host")
	if info, err := os.Stat(folder); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("clients connect in %q: %v, %v; expected a folder of the demo's account alone", folder, info, err)
	}
	d.psql(t)
	d.interrupt(t)
	if code := d.End(); code != 0 {
		t.Errorf("Ctrl-C ends the demo with %d, expected 0", code)
	}
	if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the demo has left its folder %s: %v", folder, err)
	}
}

func TestDemoEndsWithAnErrorWhenItsServerDies(t *testing.T) {
	binaries(t)
	d := launch(t, filepath.Join(server.PublicDir(t), "data")).ready()
	content, err := os.ReadFile(filepath.Join(d.folder, "postgres", "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.Fields(string(content))[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if code := d.End(); code != 1 {
		t.Errorf("the demo ends with %d, expected 1", code)
	}
	d.Line("the private PostgreSQL ended by itself", "postgres.log")
	d.leavesNothing(t)
}

func TestHealthFollowsTheProxy(t *testing.T) {
	d := launch(t, filepath.Join(server.PublicDir(t), "data"), "--postgres", server.Database(t)).ready()
	address := server.Parse(t, d.url).Host
	if out, err := exec.Command(program.Path(t), "health", "--listen", address).CombinedOutput(); err != nil {
		t.Errorf("health of a running proxy: %v: %s", err, out)
	}
	d.interrupt(t)
	d.End()
	out, err := exec.Command(program.Path(t), "health", "--listen", address).CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 4 ||
		!strings.Contains(string(out), "nothing accepts connections") {
		t.Errorf("health of an ended proxy: %v: %s", err, out)
	}
}
