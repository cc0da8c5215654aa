//go:build linux

package machines

import (
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// World is the machines of one test. Its methods, and those of its machines, are for one goroutine at a time. Start,
// methods of Process, and methods that only report are safe for concurrent use.
type World struct {
	t        testing.TB
	machines map[string]*Machine
}

// New makes machines with these names, gives them the addresses 10.93.0.1 and so on, and boots them. They end with the
// test. Only one test at a time may have machines.
func New(t testing.TB, names ...string) *World {
	t.Helper()
	switch stage := os.Getenv(stageVariable); {
	case strings.HasPrefix(stage, stageLacking):
		t.Skip("no machines: " + strings.TrimPrefix(stage, stageLacking))
	case stage != stageTests:
		t.Fatal("no machines: the test package needs func TestMain(m *testing.M) { machines.Main(m) }")
	}
	w := &World{t: t, machines: map[string]*Machine{}}
	hosts, err := os.ReadFile(hostsBefore)
	if err != nil {
		t.Fatal(err)
	}
	hosts = fmt.Appendf(hosts, "\n%s %s\n", clientAddress, clientName)
	for i, name := range names {
		if w.machines[name] != nil || name == clientName || len(name) > 15 {
			t.Fatalf("a machine cannot be named %q: expected a name of its own, of at most 15 bytes", name)
		}
		m := &Machine{w: w, name: name, number: i + 1}
		w.machines[name] = m
		hosts = fmt.Appendf(hosts, "%s %s\n", m.Address(), name)
	}
	if err := os.WriteFile(hostsFile, hosts, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := makeClockLibrary(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.end)
	for _, name := range names {
		w.machines[name].makeDisk()
		w.machines[name].SetClock(0)
		w.machines[name].boot()
		w.machines[name].resolve()
	}
	return w
}

// resolve waits until this process can resolve the machine's name. Go's resolver reads /etc/hosts every 5 s at most.
func (m *Machine) resolve() {
	m.w.t.Helper()
	for end := time.Now().Add(30 * time.Second); ; {
		found, err := net.LookupHost(m.name)
		if slices.Equal(found, []string{m.Address()}) {
			return
		}
		if time.Now().After(end) {
			m.w.t.Fatalf("%s is found at %v (%v), want %s", m.name, found, err, m.Address())
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// Machine returns the machine with this name.
func (w *World) Machine(name string) *Machine {
	w.t.Helper()
	m := w.machines[name]
	if m == nil {
		w.t.Fatalf("there is no machine %q", name)
	}
	return m
}

// address also knows the machine of the tests.
func (w *World) address(name string) string {
	w.t.Helper()
	if name == clientName {
		return clientAddress
	}
	return w.Machine(name).Address()
}

func (w *World) end() {
	for _, m := range w.machines {
		m.Crash()
		m.removeDisk()
	}
	w.Heal()
}
