package proxy

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
)

// logged is a log that a test can read while sessions write it.
type logged struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *logged) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// loggedAfter runs a proxy, lets some clients say something each and leave, and returns what it logged.
func loggedAfter(t *testing.T, said ...[]byte) string {
	t.Helper()
	var log logged
	back := listen(t)
	back.Close() // upstream is away
	p, err := New(Settings{Network: "tcp", Address: back.Addr().String(), IDs: &counter{}, Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	front := listen(t)
	go p.Serve(front)
	for _, b := range said {
		c, err := net.Dial("tcp", front.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		c.Write(b)
		c.(*net.TCPConn).CloseWrite()
		(&rig{t: t}).rest(c)
		c.Close()
	}
	over, cancel := context.WithCancel(context.Background())
	cancel()
	p.Drain(over)
	front.Close()
	p.Wait()
	return log.text()
}

func TestProbesThatConnectAndLeaveAreSilent(t *testing.T) {
	if text := loggedAfter(t, nil, nil); text != "" {
		t.Errorf("two probes were logged:\n%s", text)
	}
}

func TestEveryLineOfASessionNamesIt(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(loggedAfter(t, []byte{0, 0}, startup("user", "u"))), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], "session=1 client=127.0.0.1:") || !strings.Contains(lines[1], "session=2 client=127.0.0.1:") {
		t.Errorf("a torn packet and an upstream that is away were logged as %q; expected a line each, with its session", lines)
	}
}
