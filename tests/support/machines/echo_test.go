//go:build linux

package machines

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

// roleVariable lets the test binary be a program on a machine.
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

// beEcho answers each line of a connection with that line.
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

// beCaller sends numbers to another machine for ever, and prints those that it gets from there.
func beCaller(other string) error {
	conn, err := net.ListenPacket("udp", ":7")
	if err != nil {
		return err
	}
	to, err := net.ResolveUDPAddr("udp", other+":7")
	if err != nil {
		return err
	}
	go func() {
		for n, every := 1, time.Tick(2*time.Millisecond); ; n++ {
			<-every
			_, _ = conn.WriteTo([]byte(fmt.Sprint(n)), to) // refused until the other one listens
		}
	}()
	for buffer := make([]byte, 64); ; {
		if n, _, err := conn.ReadFrom(buffer); err == nil {
			fmt.Println(string(buffer[:n]))
		}
	}
}

// play starts a role on a machine.
func play(t *testing.T, m *Machine, role string) *Process {
	t.Helper()
	return m.Start(t, Command{Name: "/proc/self/exe", Env: []string{roleVariable + "=" + role}})
}

// echo starts one, and returns a connection to it.
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
	if err := conn.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// answers expects the echo of a line.
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

// until waits for what a file or the kernel says.
func until(t *testing.T, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !holds(); {
		if time.Now().After(end) {
			t.Fatal("this has not come about within 30 s")
		}
		time.Sleep(2 * time.Millisecond)
	}
}
