package network_test

import (
	"bufio"
	"net"
	"testing"
	"time"

	"pgflurry/tests/support/network"
	"pgflurry/tests/support/server"
)

// echo is a server that repeats every line after its name.
func echo(t *testing.T, name string) (url string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				for lines := bufio.NewScanner(conn); lines.Scan(); {
					if _, err := conn.Write([]byte(name + lines.Text() + "\n")); err != nil {
						return
					}
				}
			}()
		}
	}()
	return "tcp://" + ln.Addr().String()
}

type caller struct {
	t    *testing.T
	conn net.Conn
	from *bufio.Reader
}

func call(t *testing.T, l *network.Link) *caller {
	t.Helper()
	conn, err := net.Dial("tcp", l.Address())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &caller{t, conn, bufio.NewReader(conn)}
}

// ask sends a line. It returns what comes until the line, the connection or the time ends.
func (c *caller) ask(line string, limit time.Duration) (answer string, err error) {
	c.t.Helper()
	if _, err := c.conn.Write([]byte(line + "\n")); err != nil {
		return "", err
	}
	if err := c.conn.SetReadDeadline(time.Now().Add(limit)); err != nil {
		c.t.Fatal(err)
	}
	return c.from.ReadString('\n')
}

const long = 20 * time.Second

func TestALinkPassesCutsAnswersSilencesHealsAndLeadsElsewhere(t *testing.T) {
	server.NoLeak(t)
	l, _ := network.To(t, echo(t, "one: "))
	first := call(t, l)
	if answer, err := first.ask("hello", long); answer != "one: hello\n" {
		t.Fatalf("%q, %v", answer, err)
	}
	l.CutAnswers(5)
	if answer, err := first.ask("hello", long); answer != "one: " || err == nil {
		t.Errorf("%q, %v; expected five bytes and the end", answer, err)
	}
	l.Heal()
	second := call(t, l)
	if answer, err := second.ask("again", long); answer != "one: again\n" {
		t.Fatalf("%q, %v", answer, err)
	}
	l.Silence()
	if answer, err := second.ask("hello", 50*time.Millisecond); answer != "" || !timeout(err) {
		t.Errorf("%q, %v; expected silence", answer, err)
	}
	l.Heal()
	if answer, err := call(t, l).ask("healed", long); answer != "one: healed\n" {
		t.Errorf("%q, %v", answer, err)
	}
	l.Lead("")
	if conn, err := net.Dial("tcp", l.Address()); err == nil {
		conn.Close()
		t.Error("a link that leads nowhere was connected")
	}
	l.Lead(echo(t, "two: ")[len("tcp://"):])
	if answer, err := call(t, l).ask("hello", long); answer != "two: hello\n" {
		t.Errorf("%q, %v", answer, err)
	}
}

func timeout(err error) bool {
	late, ok := err.(net.Error)
	return ok && late.Timeout()
}
