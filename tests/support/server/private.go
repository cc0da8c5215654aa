package server

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgflurry/postgres"
)

// Private starts a cluster for one test alone, to be stopped, frozen or configured by it. Options may be nil.
func Private(t testing.TB, options map[string]string) *postgres.Cluster {
	t.Helper()
	provider, err := locate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	settings := postgres.Settings{
		Provider: provider, Data: filepath.Join(PublicDir(t), "data"), HBA: hba, Options: testOptions(),
	}
	maps.Copy(settings.Options, options)
	cluster := start(t, settings)
	Exec(t, cluster.URL("postgres"), rolesSQL)
	return cluster
}

// start starts a cluster that is stopped when the test ends.
func start(t testing.TB, settings postgres.Settings) *postgres.Cluster {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cluster, err := postgres.Start(ctx, settings)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := cluster.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return cluster
}

// Freeze stops every process of the cluster in its tracks (SIGSTOP): sockets stay open and nothing answers. The
// returned function lets them go on, which also happens when the test ends.
func Freeze(t testing.TB, cluster *postgres.Cluster) (thaw func()) {
	t.Helper()
	frozen := append([]int{cluster.PID}, children(t, cluster.PID)...)
	signal := func(s syscall.Signal) {
		for _, pid := range frozen {
			_ = syscall.Kill(pid, s) // a backend may have ended since
		}
	}
	signal(syscall.SIGSTOP)
	thaw = func() { signal(syscall.SIGCONT) }
	t.Cleanup(thaw)
	return thaw
}

// children are the processes whose parent is pid, as /proc tells.
func children(t testing.TB, pid int) []int {
	t.Helper()
	paths, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(paths) == 0 {
		t.Fatalf("/proc does not list processes: %v", err)
	}
	var found []int
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		// pid (name) state parent …, where the name may hold spaces and brackets
		fields := strings.Fields(string(content[strings.LastIndexByte(string(content), ')')+1:]))
		child, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err == nil && len(fields) > 1 && fields[1] == strconv.Itoa(pid) {
			found = append(found, child)
		}
	}
	return found
}

// IsBackend says whether a process is one of the cluster's, which must be asked before it is sent a signal: it may have
// ended, and its number be somebody else's.
func IsBackend(cluster *postgres.Cluster, pid int) bool {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	return err == nil && strings.Contains(string(status), fmt.Sprintf("\nPPid:\t%d\n", cluster.PID))
}

// Storm is how long tests that let many faults happen shall go on; 0 is a short while.
// PGFLURRY_TEST_STORM=5m makes it long.
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

// Pause lets a storm breathe. No test waits for something by it.
func Pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// Binaries are the server's programs on this machine, for tests that run some of them by hand (pg_basebackup, pg_ctl).
// Where Docker has the only PostgreSQL there are none, and the test steps aside.
func Binaries(t testing.TB) postgres.Binaries {
	t.Helper()
	provider, err := locate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if provider.Docker.Image != "" {
		t.Skip("this machine has Docker and no server binaries, which this test runs by hand")
	}
	return provider.Binaries
}
