package server

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"pgflurry/internal/postgres"
)

// Standby copies a primary as it is now, and runs the copy as a hot standby with this name. It follows the primary at
// source ("host=… port=…"). If source is empty, it gets nothing that the primary writes from now on. The test stops it
// at its end.
func Standby(
	t testing.TB, primary *postgres.Cluster, name, source string, options map[string]string,
) *postgres.Cluster {
	t.Helper()
	data := baseBackup(t, primary, name)
	if err := os.WriteFile(filepath.Join(data, "standby.signal"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	if source != "" {
		all["primary_conninfo"] = source + " user=postgres application_name=" + name
	}
	return Again(t, data, 0, options, all)
}

// Clone copies the files of a server and runs the copy beside it. Nothing in the copy shows that it is one.
func Clone(t testing.TB, original *postgres.Cluster, name string) *postgres.Cluster {
	t.Helper()
	return Again(t, baseBackup(t, original, name), 0)
}

// baseBackup copies the files of a cluster into a folder next to them.
func baseBackup(t testing.TB, primary *postgres.Cluster, name string) (data string) {
	t.Helper()
	data = filepath.Join(filepath.Dir(primary.Data), name)
	backup := exec.Command(Tool(t, "pg_basebackup"),
		"--no-sync", "--checkpoint=fast", "--wal-method=stream", "-D", data, "-d", primary.URL("postgres"))
	backup.Dir = filepath.Dir(primary.Data)
	backup.SysProcAttr = asOwner(t, primary.Data, data)
	if out, err := backup.CombinedOutput(); err != nil {
		t.Fatalf("pg_basebackup: %v\n%s", err, out)
	}
	return data
}

// Again starts a stopped or crashed cluster with the files in data and the options of Private. Port 0 is any port. The
// test stops it at its end.
func Again(t testing.TB, data string, port int, options ...map[string]string) *postgres.Cluster {
	t.Helper()
	settings := postgres.Settings{
		Provider: postgres.Provider{Binaries: Binaries(t)}, Data: data, HBA: hba, Port: port, Options: testOptions(),
	}
	for _, some := range options {
		maps.Copy(settings.Options, some)
	}
	return start(t, settings)
}

// AgainWith is Again with other programs of the same version of PostgreSQL.
func AgainWith(t testing.TB, programs postgres.Binaries, data string) *postgres.Cluster {
	t.Helper()
	return start(t, postgres.Settings{
		Provider: postgres.Provider{Binaries: programs}, Data: data, HBA: hba, Options: testOptions(),
	})
}

// Crash ends every process of a cluster at once, as pg_ctl stop -m immediate does. There is no checkpoint, and standbys
// get no last WAL.
func Crash(t testing.TB, cluster *postgres.Cluster) {
	t.Helper()
	if err := syscall.Kill(cluster.PID, syscall.SIGQUIT); err != nil {
		t.Fatal(err)
	}
	select {
	case <-cluster.Done():
	case <-time.After(time.Minute):
		for _, pid := range Children(t, cluster.PID) {
			command, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
			status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
			t.Logf("still there: %s\n%.200s", command, status)
		}
		log, _ := os.ReadFile(cluster.Log)
		t.Fatalf("the server (process %d) has not ended; it says:\n%s", cluster.PID, log[max(0, len(log)-2000):])
	}
}

// Stop stops a cluster before its test ends, as an operator does.
func Stop(t testing.TB, cluster *postgres.Cluster) {
	t.Helper()
	if err := cluster.Stop(Within(t)); err != nil {
		t.Fatal(err)
	}
}

// AsOwner says how to run a program as the owner of a folder. It matters if root runs the tests.
func AsOwner(t testing.TB, path string) *syscall.SysProcAttr {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	attr := &syscall.SysProcAttr{}
	if stat := info.Sys().(*syscall.Stat_t); os.Geteuid() == 0 && stat.Uid != 0 {
		attr.Credential = &syscall.Credential{Uid: stat.Uid, Gid: stat.Gid}
	}
	return attr
}

// asOwner makes a folder for the owner of another folder, and says how to run a program as that owner. It matters if
// root runs the tests.
func asOwner(t testing.TB, path, made string) *syscall.SysProcAttr {
	t.Helper()
	if err := os.Mkdir(made, 0o700); err != nil {
		t.Fatal(err)
	}
	attr := AsOwner(t, path)
	if attr.Credential == nil {
		return attr
	}
	if err := os.Chown(made, int(attr.Credential.Uid), int(attr.Credential.Gid)); err != nil {
		t.Fatal(fmt.Errorf("giving %s to the server's user: %w", made, err))
	}
	return attr
}

// Promote makes a primary of a standby. It does not wait inside pg_promote(): the snapshot of that statement can hold
// up the replay that it waits for.
func Promote(t testing.TB, standby *postgres.Cluster) {
	t.Helper()
	conn := Connect(t, standby.URL("postgres"))
	Do(t, conn, "SELECT pg_promote(wait => false)")
	Eventually(t, conn, "NOT pg_is_in_recovery()")
}
