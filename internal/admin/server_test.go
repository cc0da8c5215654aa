package admin

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"pgflurry/internal/report"
	"pgflurry/tests/support/browser"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(suite{m}) }

type suite struct{ m *testing.M }

func (s suite) Run() int {
	defer browser.End()
	return s.m.Run()
}

// fakeNode is a node that returns what the test sets.
type fakeNode struct {
	mu      sync.Mutex
	state   report.State // use become once the server runs
	asked   atomic.Int64
	history func(context.Context, int) ([]report.Tenure, error)
}

func (n *fakeNode) State() report.State {
	n.asked.Add(1)
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.state
}

// become changes the state while a server may read it.
func (n *fakeNode) become(change func(*report.State)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	change(&n.state)
}

func (n *fakeNode) Decode(string) (report.Decoded, error) {
	return report.Decoded{}, errors.New("the test has no IDs")
}

func (n *fakeNode) History(ctx context.Context, worker int) ([]report.Tenure, error) {
	if n.history == nil {
		return nil, errors.New("the test has no lease database")
	}
	return n.history(ctx, worker)
}

// serve runs a server until the test ends or calls end, and returns its address.
func serve(t *testing.T, s *Server) (address string, end func()) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, listener) }()
	over := false
	end = func() {
		if over {
			return
		}
		over = true
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the server ended with %v", err)
		}
	}
	t.Cleanup(end)
	return listener.Addr().String(), end
}

// ask sends one request over a new connection.
func ask(t *testing.T, method, url string, header ...string) (status int, head http.Header, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	transport := &http.Transport{DisableKeepAlives: true, DisableCompression: true}
	response, err := transport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	all, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, response.Header, string(all)
}

func dial(t *testing.T, address string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// isClosed waits until the other side has closed the connection.
func isClosed(t *testing.T, conn net.Conn) {
	t.Helper()
	if _, err := io.Copy(io.Discard, conn); errors.Is(err, net.ErrClosed) {
		t.Errorf("the connection was not closed by the server: %v", err)
	}
}

func TestInvariant1NoRequestChangesAnything(t *testing.T) {
	address, _ := serve(t, New(Settings{Node: &fakeNode{}, Pprof: true}))
	for _, path := range []string{"/", "/metrics", "/readyz", "/livez", "/debug/pprof/symbol", "/no/such"} {
		for _, method := range []string{"POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECTION"} {
			status, header, body := ask(t, method, "http://"+address+path)
			if status != http.StatusMethodNotAllowed || header.Get("Allow") != "GET, HEAD" {
				t.Errorf("%s %s: %d, Allow %q: %s", method, path, status, header.Get("Allow"), body)
			}
		}
	}
}

func TestProfilesAreThereOnlyIfAskedFor(t *testing.T) {
	without, _ := serve(t, New(Settings{Node: &fakeNode{}}))
	with, _ := serve(t, New(Settings{Node: &fakeNode{}, Pprof: true}))
	for _, path := range []string{"/debug/pprof/", "/debug/pprof/goroutine", "/debug/pprof/symbol"} {
		if status, _, _ := ask(t, "GET", "http://"+without+path); status != http.StatusNotFound {
			t.Errorf("without: GET %s: %d", path, status)
		}
		if status, _, body := ask(t, "GET", "http://"+with+path); status != http.StatusOK {
			t.Errorf("with: GET %s: %d: %s", path, status, body)
		}
	}
	if status, _, body := ask(t, "GET", "http://"+with+"/debug/pprof/cmdline"); status != http.StatusNotFound {
		t.Errorf("the command line is shown: %d: %s", status, body)
	}
}

func TestInvariant4WhoReadsSlowlyCostsALimitedTime(t *testing.T) {
	s := New(Settings{Node: &fakeNode{}})
	s.limits.header, s.limits.request = 20*time.Millisecond, 20*time.Millisecond
	s.limits.answer, s.limits.idle = 20*time.Millisecond, 20*time.Millisecond
	gaveUp := make(chan error, 1)
	s.handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/small" {
			return
		}
		var err error
		for chunk := make([]byte, 1<<20); err == nil; {
			_, err = w.Write(chunk)
		}
		gaveUp <- err
	})
	address, _ := serve(t, s)
	t.Run("WhoSaysNothing", func(t *testing.T) { isClosed(t, dial(t, address)) })
	t.Run("WhoSaysHalf", func(t *testing.T) {
		conn := dial(t, address)
		if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost:"); err != nil {
			t.Fatal(err)
		}
		isClosed(t, conn)
	})
	t.Run("WhoKeepsTheConnection", func(t *testing.T) {
		conn := dial(t, address)
		if _, err := io.WriteString(conn, "GET /small HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		isClosed(t, conn)
	})
	t.Run("WhoNeverReads", func(t *testing.T) {
		if _, err := io.WriteString(dial(t, address), "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		if err := <-gaveUp; err == nil {
			t.Error("an endless answer was written to nobody")
		}
	})
}

func TestALongHeaderIsRefused(t *testing.T) {
	address, _ := serve(t, New(Settings{Node: &fakeNode{}}))
	conn := dial(t, address)
	long := strings.Repeat("x", 24<<10)
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: "+long+"\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, len("HTTP/1.1 431"))
	if _, err := io.ReadFull(conn, answer); err != nil || string(answer) != "HTTP/1.1 431" {
		t.Errorf("%q, %v", answer, err)
	}
}

func TestInvariant4TheOldestConnectionGivesWayToOneTooMany(t *testing.T) {
	s := New(Settings{Node: &fakeNode{}})
	s.limits.connections = 3
	s.limits.header, s.limits.request = time.Hour, time.Hour // nothing else ends a silent connection
	address, _ := serve(t, s)
	var silent []net.Conn
	for range s.limits.connections {
		silent = append(silent, dial(t, address))
	}
	if status, _, _ := ask(t, "GET", "http://"+address+"/no/such"); status != http.StatusNotFound {
		t.Errorf("beside %d silent connections: status %d", len(silent), status)
	}
	isClosed(t, silent[0])
	if _, err := io.WriteString(silent[1], "GET /no/such HTTP/1.0\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if answer, err := io.ReadAll(silent[1]); err != nil || !strings.HasPrefix(string(answer), "HTTP/1.0 404") {
		t.Errorf("the second connection had to go too: %q, %v", answer, err)
	}
}

func TestTheEndLeavesNoRequestAndNoListener(t *testing.T) {
	s := New(Settings{Node: &fakeNode{}})
	begun, ended := make(chan struct{}), make(chan struct{})
	s.handler = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(begun)
		<-r.Context().Done() // as if waiting for a database
		close(ended)
	})
	address, end := serve(t, s)
	conn := dial(t, address)
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	<-begun
	silent := dial(t, address)
	end()
	select {
	case <-ended:
	default:
		t.Error("a request runs after the end")
	}
	isClosed(t, conn)
	isClosed(t, silent)
	if conn, err := net.Dial("tcp", address); err == nil {
		conn.Close()
		t.Error("something still listens")
	}
}
