//go:build full && linux

package machines

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// roleVariable turns the test binary into a program for a machine.
const roleVariable = "MACHINES_TEST_ROLE"

func TestMain(m *testing.M) {
	if role, argument, _ := strings.Cut(os.Getenv(roleVariable), " "); role != "" {
		if err := roles[role](argument); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	Main(m)
}

var roles = map[string]func(argument string) error{"echo": beEcho, "call": beCaller}

// beEcho answers each line of a connection with the same line.
func beEcho(string) error {
	listener, err := net.Listen("tcp", ":7")
	if err != nil {
		return err
	}
	fmt.Println("listening")
	for {
		conn, err := listener.Accept()
		if err != nil {
			return err
		}
		go func() {
			lines := bufio.NewScanner(conn)
			for lines.Scan() {
				fmt.Fprintln(conn, lines.Text())
			}
		}()
	}
}

// beCaller sends numbers to another machine for ever. It prints each number that it gets from there, with the last one
// that it has sent.
func beCaller(other string) error {
	conn, err := net.ListenPacket("udp", ":7")
	if err != nil {
		return err
	}
	to, err := net.ResolveUDPAddr("udp", other+":7")
	if err != nil {
		return err
	}
	var sent atomic.Int64
	go func() {
		for every := time.Tick(2 * time.Millisecond); ; {
			<-every
			_, _ = conn.WriteTo(strconv.AppendInt(nil, sent.Add(1), 10), to) // nobody may listen yet
		}
	}()
	for buffer := make([]byte, 64); ; {
		if n, _, err := conn.ReadFrom(buffer); err == nil {
			fmt.Println(string(buffer[:n]), sent.Load())
		}
	}
}

// three makes the same machines in all tests, because Go's resolver caches /etc/hosts for 5 s.
func three(t *testing.T) *World {
	t.Helper()
	return New(t, "db1", "db2", "db3")
}

// play starts a role on a machine.
func play(t *testing.T, m *Machine, role string) *Process {
	t.Helper()
	return m.Start(t, Command{Name: "/proc/self/exe", Env: []string{roleVariable + "=" + role}})
}

// call starts a caller on a machine, or on that of the tests.
func call(t *testing.T, w *World, from, to string) *Process {
	t.Helper()
	if from != clientName {
		return play(t, w.Machine(from), "call "+to)
	}
	log, err := os.CreateTemp("", "call")
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	p := &Process{command: exec.Command("/proc/self/exe"), log: log.Name(), exited: make(chan struct{})}
	p.command.Env = []string{roleVariable + "=call " + to}
	p.command.Stdout = log
	if err := p.begin(p.command.Start); err != nil {
		t.Fatal(err)
	}
	return p
}

// packet is a line of a caller: the number that it got, and the last one that it had sent.
type packet struct{ got, sent int }

func packets(t *testing.T, p *Process) (all []packet) {
	t.Helper()
	text := p.Log()
	for line := range strings.Lines(text[:strings.LastIndex(text, "\n")+1]) {
		var one packet
		if _, err := fmt.Sscan(line, &one.got, &one.sent); err != nil {
			t.Fatalf("%v: %q", err, line)
		}
		all = append(all, one)
	}
	return all
}

// hearsMore waits until a caller gets some packets, and returns all packets up to now.
func hearsMore(t *testing.T, p *Process) (all []packet) {
	t.Helper()
	before := len(packets(t, p))
	until(t, func() bool { all = packets(t, p); return len(all) > before+10 })
	return all
}

// sent returns the number of packets that a caller had sent when it got the newest one.
func sent(t *testing.T, p *Process) int {
	t.Helper()
	all := hearsMore(t, p)
	return all[len(all)-1].sent
}

// hasMissed expects one gap of at least this many numbers after the packets in had.
func hasMissed(t *testing.T, p *Process, had []packet, least int) {
	t.Helper()
	var gaps []int
	since := packets(t, p)[len(had)-1:]
	for i := range since[1:] {
		if gap := since[i+1].got - since[i].got - 1; gap > 0 {
			gaps = append(gaps, gap)
		}
	}
	if len(gaps) != 1 || gaps[0] < least {
		t.Errorf("packets are missing in these runs: %v; want one, of at least %d", gaps, least)
	}
}

// echo starts an echo server, and returns a connection to it.
func echo(t *testing.T, m *Machine) (*Process, net.Conn) {
	t.Helper()
	p := play(t, m, "echo")
	until(t, func() bool { return strings.Contains(p.Log(), "listening") })
	return p, dial(t, m)
}

func dial(t *testing.T, m *Machine) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", m.Name()+":7")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// answers expects an echo of a line.
func answers(t *testing.T, conn net.Conn, line string) {
	t.Helper()
	send(t, conn, line)
	hears(t, conn, line)
}

func send(t *testing.T, conn net.Conn, line string) {
	t.Helper()
	if _, err := fmt.Fprintln(conn, line); err != nil {
		t.Fatal(err)
	}
}

func hears(t *testing.T, conn net.Conn, line string) {
	t.Helper()
	if got, err := bufio.NewReader(conn).ReadString('\n'); got != line+"\n" {
		t.Fatalf("answered %q (%v), want %q", got, err, line)
	}
}

// patience limits each wait. A longer one hangs.
const patience = 30 * time.Second

// until waits for a condition of a file or of the kernel.
func until(t *testing.T, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !holds(); {
		if time.Now().After(end) {
			t.Fatalf("this has not come about within %v", patience)
		}
		time.Sleep(2 * time.Millisecond)
	}
}
