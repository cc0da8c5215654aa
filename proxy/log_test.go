package proxy

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"pgflurry/internal/draw"
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

// loggedAfter runs a proxy, lets some clients send something each and leave, and returns the log.
func loggedAfter(t *testing.T, said ...[]byte) string {
	t.Helper()
	var log logged
	back := listen(t)
	back.Close() // upstream is away
	p, err := New(Settings{
		Upstream: []Host{{Network: "tcp", Address: back.Addr().String()}}, IDs: draw.New(&counter{}, nil),
		Log: slog.New(slog.NewTextHandler(&log, nil)),
	})
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
	if len(lines) != 2 || !strings.Contains(lines[0], "session=1 client=127.0.0.1:") ||
		!strings.Contains(lines[1], "session=2 client=127.0.0.1:") {
		t.Errorf("a torn packet and an upstream that is away were logged as %q; expected a line each, with its session",
			lines)
	}
}

// loginOf starts the login of a client to a proxy with a log, up to upstream's first message.
func loginOf(t *testing.T, log *logged) *rig {
	t.Helper()
	r := newRigBeforeStartup(t, &counter{}, logsTo(log))
	r.send(startup("user", "ann", "database", "app"))
	r.upstream = <-r.arrivals
	r.toUpstream(startup("user", "ann", "database", "app"))
	return r
}

// isOver returns when all sessions have ended, by themselves.
func (r *rig) isOver() {
	r.t.Helper()
	r.proxy.Drain(context.Background())
	r.proxy.Wait()
}

func TestARefusedLoginIsLoggedWithWhoWhereAndWhy(t *testing.T) {
	var log logged
	r := loginOf(t, &log)
	fatal := message('E', z("SFATAL"), z("VFATAL"), z("C28P01"),
		z("Mpassword authentication failed for user \"ann\""), []byte{0})
	r.reply(fatal)
	r.upstream.Close()
	if got := r.rest(r.client); !bytes.Equal(got, fatal) {
		t.Errorf("the client got %q", got)
	}
	r.isOver()
	want := fmt.Sprintf("level=INFO msg=\"login refused by PostgreSQL\" session=1 client=%v user=ann database=app "+
		"upstream_port=%d sqlstate=28P01\n",
		r.client.LocalAddr(), r.upstream.RemoteAddr().(*net.TCPAddr).Port)
	if text := log.text(); strings.Count(text, "\n") != 1 || !strings.HasSuffix(text, want) {
		t.Errorf("the log says\n%sexpected one line that ends with\n%s", text, want)
	}
}

func TestAFATALOfASessionIsNoRefusedLogin(t *testing.T) {
	var log logged
	r := loginOf(t, &log)
	r.reply(authOK, ready('I'), message('E', z("SFATAL"), z("VFATAL"), z("C57P01"), []byte{0}))
	r.upstream.Close()
	r.rest(r.client)
	r.isOver()
	if text := log.text(); text != "" {
		t.Errorf("the log says %q; expected nothing", text)
	}
}

func TestALostPostgreSQLIsLoggedWithAllThatFindsTheSession(t *testing.T) {
	var log logged
	r := loginOf(t, &log)
	r.reply(authOK, ready('I'))
	r.toClient(authOK, ready('I'))
	r.upstream.Close()
	r.rest(r.client)
	r.isOver()
	want := fmt.Sprintf("session=1 client=%v user=ann database=app upstream_port=%d",
		r.client.LocalAddr(), r.upstream.RemoteAddr().(*net.TCPAddr).Port)
	if text := log.text(); !strings.Contains(text, want) ||
		!strings.Contains(text, "PostgreSQL server behind the proxy was lost") {
		t.Errorf("the log says %q; expected %q and that PostgreSQL was lost", text, want)
	}
}

// unwritable is a client whose connection takes no more data, although the proxy has not noticed its end.
type unwritable struct {
	net.Conn
	broken *atomic.Bool
}

func (c unwritable) Write(b []byte) (int, error) {
	if c.broken.Load() {
		return 0, syscall.ECONNRESET
	}
	return c.Conn.Write(b)
}

func TestAClientThatIsLostAmongItsRowsIsNotLoggedAsALostPostgreSQL(t *testing.T) {
	for name, rows := range map[string][]byte{
		"relayed":  dataRow("1"),
		"streamed": message('D', make([]byte, 100_000)),
		"answered": nil,
	} {
		t.Run(name, func(t *testing.T) {
			var log logged
			var broken atomic.Bool
			r := newRigBeforeStartup(t, &counter{}, logsTo(&log))
			r.client.Close()
			client, far := net.Pipe()
			r.client = client
			r.proxy.conns.Go(func() { r.proxy.serve(unwritable{far, &broken}, 99, r.proxy.welcome(far)) })
			r.startsUp()
			broken.Store(true)
			if rows == nil {
				r.send(ourQuery)
			} else {
				r.send(query("SELECT rows"))
				r.toUpstream(query("SELECT rows"))
				go r.upstream.Write(rows)
			}
			r.rest(r.upstream)
			r.isOver()
			text := log.text()
			if strings.Count(text, "\n") != 1 ||
				!strings.Contains(text, "level=INFO msg=\"session ended: the client's connection was lost\"") ||
				!strings.Contains(text, "connection reset by peer") {
				t.Errorf("the log says\n%sexpected one line, that the client was lost", text)
			}
		})
	}
}
