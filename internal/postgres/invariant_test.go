//go:build unix

package postgres

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// starterOf makes this test binary run a cluster on the named folder and then wait.
const starterOf = "PGFLURRY_TEST_STARTER_OF"

func TestMain(m *testing.M) {
	if data := os.Getenv(starterOf); data != "" {
		binaries, err := Find("")
		if err == nil {
			var cluster *Cluster
			cluster, err = Start(context.Background(), Settings{Provider: Provider{Binaries: binaries}, Data: data})
			if err == nil {
				fmt.Println(cluster.URL("postgres"))
				<-cluster.Done()
			}
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func TestInvariant1RootNeverRunsTheServer(t *testing.T) {
	cluster := start(t, quick(t))
	info, err := os.Stat(cluster.Data)
	if err != nil {
		t.Fatal(err)
	}
	uid := info.Sys().(*syscall.Stat_t).Uid
	if uid == 0 {
		t.Errorf("the data folder belongs to root")
	}
	if os.Getuid() != 0 && int(uid) != os.Getuid() {
		t.Errorf("the data folder belongs to user %d, expected this user, %d", uid, os.Getuid())
	}
}

func TestInvariant1AFolderThatTheServersUserCannotPassIsNamed(t *testing.T) {
	closed := filepath.Join(place(t), "closed")
	if err := os.Mkdir(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	settings := quick(t)
	settings.Data = filepath.Join(closed, "below", "data")
	cluster, err := Start(t.Context(), settings)
	if os.Getuid() != 0 { // without root, the owner is this user anyway
		if err != nil {
			t.Fatal(err)
		}
		stop(t, cluster)
		return
	}
	impassable, ok := errors.AsType[*ImpassableError](err)
	if !ok {
		t.Fatalf("got %v, expected an ImpassableError", err)
	}
	if impassable.Folder != closed || !strings.Contains(err.Error(), closed+" has mode 0700") {
		t.Errorf("the error blames %s: %v", impassable.Folder, err)
	}
}

func TestInvariant2ServerHasAProcessGroupOfItsOwn(t *testing.T) {
	cluster := start(t, quick(t))
	group, err := syscall.Getpgid(cluster.PID)
	if err != nil || group != cluster.PID || group == syscall.Getpgrp() {
		t.Errorf("the server (process %d) is in group %d, the test in %d: %v",
			cluster.PID, group, syscall.Getpgrp(), err)
	}
}

func TestInvariant3ServerEndsWithAStarterThatIsKilled(t *testing.T) {
	data := quick(t).Data
	starter := exec.Command(os.Args[0])
	starter.Env = append(os.Environ(), starterOf+"="+data)
	starter.Stderr = os.Stderr
	out, err := starter.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := starter.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = starter.Process.Kill() })
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), strings.TrimSpace(url))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if err := starter.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = starter.Wait()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if _, err := conn.WaitForNotification(ctx); ctx.Err() != nil {
		t.Fatalf("the server outlives its starter: %v", err)
	}
	for { // the postmaster removes its file last
		if pid, _ := readPidFile(data); pid == 0 {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatal("the server outlives its starter: its postmaster.pid stays")
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func TestInvariant4AServerAlreadyOnTheDataFolderIsLeftAlone(t *testing.T) {
	settings := quick(t)
	cluster := start(t, settings)
	if _, err := Start(t.Context(), settings); err == nil ||
		!strings.Contains(err.Error(), "is in use by process "+fmt.Sprint(os.Getpid())) {
		t.Errorf("second start on a locked data folder: %v", err)
	}
	// A server that another program started does not hold our lock.
	if err := os.Remove(settings.Data + ".lock"); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("(process %d) already runs on data folder", cluster.PID)
	if _, err := Start(t.Context(), settings); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("second start on a running server's data folder: %v, expected %q", err, want)
	}
	if got := ask(t, cluster.URL("postgres"), "select 'alive'"); got != "alive" {
		t.Errorf("the first server answers %q", got)
	}
}

func TestInvariant5InterruptedInitdbLeavesNoCluster(t *testing.T) {
	settings := quick(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	interrupted := errors.New("interrupted by the test")
	settings.Progress = func(string) {
		go func() { // after initdb has written its first file
			for ctx.Err() == nil {
				if _, err := os.Stat(settings.Data + ".new/PG_VERSION"); err == nil {
					cancel(interrupted)
				}
			}
		}()
	}
	if _, err := Start(ctx, settings); !errors.Is(err, interrupted) {
		t.Errorf("interrupted start: %v", err)
	}
	if got := names(t, filepath.Dir(settings.Data)); !slices.Equal(got, []string{"data.lock"}) {
		t.Errorf("an interrupted start left %v", got)
	}
	// As from a run that could not clean up.
	half := settings.Data + ".new"
	if err := errors.Join(os.Mkdir(half, 0o700), os.WriteFile(half+"/PG_VERSION", []byte("15\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	settings.Progress = nil
	start(t, settings)
}

func TestInvariant6StopLeavesNothingButDataLogAndLock(t *testing.T) {
	before, err := filepath.Glob("/tmp/pgflurry-*")
	if err != nil {
		t.Fatal(err)
	}
	settings := quick(t)
	top := filepath.Dir(settings.Data)
	// A socket below this folder would not fit into the kernel's address, so it is put elsewhere.
	settings.Data = filepath.Join(top, strings.Repeat("long", 30), "data")
	cluster := start(t, settings)
	if cluster.SocketDir == cluster.Data {
		t.Errorf("the socket is in %s, which is too long", cluster.SocketDir)
	}
	ask(t, socketURL(cluster, "postgres"), "select 'by socket'")
	stop(t, cluster)
	if got := names(t, filepath.Dir(settings.Data)); !slices.Equal(got, []string{"data", "data.lock", "data.log"}) {
		t.Errorf("a stopped cluster left %v", got)
	}
	if _, err := os.Stat(cluster.SocketDir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("socket folder %s is left (before: %v): %v", cluster.SocketDir, before, err)
	}
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, entry := range entries {
		all = append(all, entry.Name())
	}
	return all
}
