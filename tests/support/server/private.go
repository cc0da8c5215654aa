package server

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgflurry/internal/postgres"
)

// Private starts a cluster for one test, which may stop, freeze or configure it. Options may be nil.
func Private(t testing.TB, options map[string]string) *postgres.Cluster {
	t.Helper()
	provider, err := locate()
	if err != nil {
		t.Fatal(err)
	}
	settings := postgres.Settings{
		Provider: provider, Data: filepath.Join(PublicDir(t), "data"), HBA: hba, Options: testOptions(),
	}
	maps.Copy(settings.Options, options)
	if err := seed(t.Context(), provider, settings.Data); err != nil {
		t.Fatal(err)
	}
	cluster := start(t, settings)
	Exec(t, cluster.URL("postgres"), rolesSQL)
	return cluster
}

// start starts a cluster. The test stops it at its end.
func start(t testing.TB, settings postgres.Settings) *postgres.Cluster {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cluster, err := postgres.Start(ctx, settings)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), Patience)
		defer cancel()
		if err := cluster.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return cluster
}

// Freeze stops every process of the cluster (SIGSTOP). Sockets stay open, and nothing answers. thaw resumes them; so
// does the end of the test.
func Freeze(t testing.TB, cluster *postgres.Cluster) (thaw func()) {
	t.Helper()
	var frozen []int
	signal := func(s syscall.Signal) {
		for _, pid := range frozen {
			_ = syscall.Kill(pid, s) // a backend may have ended since
		}
	}
	// Until the postmaster has stopped it may start another backend. So the second round finds all of them.
	for range 2 {
		frozen = append([]int{cluster.PID}, Children(t, cluster.PID)...)
		signal(syscall.SIGSTOP)
		for status := "/proc/" + strconv.Itoa(cluster.PID) + "/status"; ; {
			content, err := os.ReadFile(status)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(content), "\nState:\tT") {
				break
			}
		}
	}
	thaw = func() { signal(syscall.SIGCONT) }
	t.Cleanup(thaw)
	return thaw
}

// Children returns the child processes of pid, from /proc.
func Children(t testing.TB, pid int) []int {
	t.Helper()
	paths, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(paths) == 0 {
		t.Fatalf("/proc does not list processes: %v", err)
	}
	var found []int
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			continue // the process has ended
		}
		// pid (name) state parent …; the name may contain spaces and brackets
		fields := strings.Fields(string(content[strings.LastIndexByte(string(content), ')')+1:]))
		child, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err == nil && len(fields) > 1 && fields[1] == strconv.Itoa(pid) {
			found = append(found, child)
		}
	}
	return found
}

// ClientPorts returns the TCP ports of those that are connected to a server on 127.0.0.1, from /proc/net/tcp. That
// may show a connection twice while others come and go.
func ClientPorts(t testing.TB, cluster *postgres.Cluster) (ports []int) {
	t.Helper()
	const established = "01"
	table, err := os.ReadFile("/proc/net/tcp") // number, local and remote address:port in hexadecimal digits, state
	if err != nil {
		t.Fatal(err)
	}
	ours := fmt.Sprintf(":%04X", cluster.Port)
	for line := range strings.Lines(string(table)) {
		fields := strings.Fields(line)
		if len(fields) < 4 || fields[3] != established || !strings.HasSuffix(fields[1], ours) {
			continue
		}
		_, port, _ := strings.Cut(fields[2], ":")
		number, err := strconv.ParseUint(port, 16, 16)
		if err != nil {
			t.Fatal(err)
		}
		ports = append(ports, int(number))
	}
	slices.Sort(ports)
	return slices.Compact(ports)
}

// IsBackend says whether a process belongs to the cluster. Ask before you send it a signal: a backend may have ended,
// and another process may have its number.
func IsBackend(cluster *postgres.Cluster, pid int) bool {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	return err == nil && strings.Contains(string(status), fmt.Sprintf("\nPPid:\t%d\n", cluster.PID))
}

// Storm returns how long tests with many faults should go on. 0 is a short while, and PGFLURRY_TEST_STORM=5m makes it
// long.
func Storm(t testing.TB) time.Duration {
	t.Helper()
	text := os.Getenv("PGFLURRY_TEST_STORM")
	if text == "" {
		return 0
	}
	length, err := time.ParseDuration(text)
	if err != nil || length <= 0 {
		t.Fatalf("PGFLURRY_TEST_STORM is %q; expected a length of time such as 5m", text)
	}
	return length
}

// Pause lets a storm breathe. No test waits for an event by it.
func Pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// Binaries returns the server's programs on this machine, for tests that run some by hand (pg_basebackup, pg_ctl). If
// only Docker has a PostgreSQL, the test is skipped.
func Binaries(t testing.TB) postgres.Binaries {
	t.Helper()
	provider, err := locate()
	if err != nil {
		t.Fatal(err)
	}
	if provider.Docker.Image != "" {
		t.Skip("this machine has Docker and no server binaries, which this test runs by hand")
	}
	return provider.Binaries
}
