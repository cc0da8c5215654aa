//go:build linux

package machines

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

func heard(p *Process) int { return strings.Count(p.Log(), "\n") }

func TestACutOfOneDirectionPassesPacketsTheOtherWay(t *testing.T) {
	w := New(t, "db1", "db2")
	db1, db2 := play(t, w.Machine("db1"), "call db2"), play(t, w.Machine("db2"), "call db1")
	more := func(p *Process) {
		t.Helper()
		before := heard(p)
		until(t, func() bool { return heard(p) > before+10 })
	}
	more(db1)
	more(db2)
	w.Cut("db1", "db2")
	w.Cut("db1", "db2") // again changes nothing
	more(db1)           // and what was under way has arrived
	before := heard(db2)
	more(db1)
	if after := heard(db2); after != before {
		t.Errorf("%d packets have passed the cut", after-before)
	}
	w.Heal()
	more(db2)
	w.Part([]string{"db1"}, []string{"db2"})
	w.Cut("client", "db1")
	w.Heal()
	more(db1)
	more(db2)
}

func TestAConnectionAcrossACutHangsAndGoesOnAfterwards(t *testing.T) {
	w := New(t, "db1")
	_, conn := echo(t, w.Machine("db1"))
	answers(t, conn, "before")
	for _, cut := range [][2]string{{"client", "db1"}, {"db1", "client"}} {
		w.Cut(cut[0], cut[1])
		send(t, conn, "meanwhile")
		w.Heal()
		hears(t, conn, "meanwhile")
	}
}

func TestACrashedMachinesProcessesAreGoneAndItsDiskStays(t *testing.T) {
	w := New(t, "db1")
	db1 := w.Machine("db1")
	kept := filepath.Join(db1.Disk(), "kept")
	p, conn := echo(t, db1)
	orphan := db1.Start(t, Command{Name: "sh", Args: []string{"-c", "sleep 1000 & echo kept >" + kept}, As: "nobody"})
	<-orphan.Exited()
	pids, err := db1.pids()
	if err != nil || len(pids) != 2 {
		t.Fatalf("processes %v (%v), want the echo and the orphan", pids, err)
	}
	db1.Crash()
	<-p.Exited()
	for _, pid := range pids {
		if err := syscall.Kill(pid, 0); err != syscall.ESRCH {
			t.Errorf("process %d is there: %v", pid, err)
		}
	}
	send(t, conn, "the sender learns nothing")
	db1.Crash() // again changes nothing
	_, again := echo(t, db1)
	answers(t, again, "booted")
	// Only now does the old connection end: nobody has said farewell, and the new machine does not know it.
	if n, err := conn.Read(make([]byte, 9)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the connection of before has %d bytes and error %v, want a reset", n, err)
	}
	if text, err := os.ReadFile(kept); string(text) != "kept\n" {
		t.Errorf("the disk holds %q (%v)", text, err)
	}
}

func TestAPausedMachineAnswersNothingAndGoesOnAfterwards(t *testing.T) {
	w := New(t, "db1")
	db1 := w.Machine("db1")
	p, conn := echo(t, db1)
	db1.Pause()
	send(t, conn, "meanwhile")
	until(t, func() bool { return stateOf(t, p.PID()) == "T" })
	db1.Wake()
	hears(t, conn, "meanwhile")
	answers(t, conn, "afterwards")
	db1.PausePostgres()
	answers(t, conn, "no process of PostgreSQL")
	db1.Wake()
}

func stateOf(t *testing.T, pid int) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(text[strings.LastIndex(string(text), ")")+1:]))[0]
}

func TestAFullDiskRefusesWritesUntilItIsFree(t *testing.T) {
	w := New(t, "db1", "db2")
	write := func(m *Machine) error {
		return os.WriteFile(filepath.Join(m.Disk(), "file"), []byte("more"), 0o644)
	}
	w.Machine("db1").Fill()
	if err := write(w.Machine("db1")); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a full disk says %v, want ENOSPC", err)
	}
	if err := write(w.Machine("db2")); err != nil {
		t.Errorf("the other machine's disk: %v", err)
	}
	w.Machine("db1").Free()
	if err := write(w.Machine("db1")); err != nil {
		t.Errorf("a free disk: %v", err)
	}
}
