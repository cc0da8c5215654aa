//go:build full && linux

package machines

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestACutOfOneDirectionPassesPacketsTheOtherWay(t *testing.T) {
	w := three(t)
	for _, pair := range [][2]string{{"db1", "db2"}, {"db1", "client"}, {"client", "db1"}} {
		from, to := pair[0], pair[1]
		t.Run(from+" to "+to, func(t *testing.T) {
			sender, receiver := call(t, w, from, to), call(t, w, to, from)
			defer sender.Kill()
			defer receiver.Kill()
			hearsMore(t, sender)
			had := hearsMore(t, receiver)
			w.Cut(from, to)
			w.Cut(from, to) // a second cut changes nothing
			for since := sent(t, sender); sent(t, sender) <= since+20; {
			}
			w.Heal()
			hearsMore(t, receiver)
			hasMissed(t, receiver, had, 20)
		})
	}
}

func TestPartsHearNothingOfEachOtherUntilTheyHeal(t *testing.T) {
	w := three(t)
	one, other := call(t, w, "db1", "db2"), call(t, w, "db2", "db1")
	_, conn := echo(t, w.Machine("db3"))
	hadOne, hadOther := hearsMore(t, one), hearsMore(t, other)
	w.Part([]string{"db1", "db3"}, []string{"db2"})
	for begun := time.Now(); time.Since(begun) < 100*time.Millisecond; {
		answers(t, conn, "the rest of the world goes on")
	}
	w.Heal()
	hearsMore(t, one)
	hearsMore(t, other)
	hasMissed(t, one, hadOne, 1)
	hasMissed(t, other, hadOther, 1)
}

func TestAConnectionAcrossACutHangsAndGoesOnAfterwards(t *testing.T) {
	w := three(t)
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
	w := three(t)
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
	db1.Crash() // a second crash changes nothing
	_, again := echo(t, db1)
	answers(t, again, "booted")
	// Only now does the old connection end: the rebooted machine does not know it, and nobody had closed it.
	if n, err := conn.Read(make([]byte, 9)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the connection of before has %d bytes and error %v, want a reset", n, err)
	}
	if text, err := os.ReadFile(kept); string(text) != "kept\n" {
		t.Errorf("the disk holds %q (%v)", text, err)
	}
}

func TestAPausedMachineAnswersNothingAndGoesOnAfterwards(t *testing.T) {
	w := three(t)
	db1 := w.Machine("db1")
	p, conn := echo(t, db1)
	db1.Pause()
	send(t, conn, "meanwhile")
	// A running kernel would refuse at once.
	if _, err := net.DialTimeout("tcp", "db1:9", 200*time.Millisecond); !isTimeout(err) {
		t.Errorf("a port where nobody listens says %v, want silence", err)
	}
	until(t, func() bool { return stateOf(t, p.PID()) == "T" })
	db1.Wake()
	hears(t, conn, "meanwhile")
	answers(t, conn, "afterwards")
	db1.PausePostgres()
	answers(t, conn, "no process of PostgreSQL")
	db1.Wake()
}

func isTimeout(err error) bool {
	var of net.Error
	return errors.As(err, &of) && of.Timeout()
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
	w := three(t)
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
