package idserver

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"pgflurry/internal/account"
	"pgflurry/internal/draw"
	"pgflurry/internal/fault"
	"pgflurry/proxy/pgtls"
	"pgflurry/proxy/scram"
	"pgflurry/tests/support/authority"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// giveUp is how long a test waits for missing bytes before it fails.
const giveUp = 20 * time.Second

// noon is the time of all tests.
var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// hall is a Server whose clients come over TCP, as the proxy hands them over.
type hall struct {
	t        testing.TB
	server   *Server
	listener net.Listener
	tls      atomic.Pointer[pgtls.Client] // nil: none
	accounts atomic.Pointer[account.List]
	clock    atomic.Int64 // nanoseconds since noon
	known    atomic.Int64 // calls of loggedIn
	goes     atomic.Bool  // clients give way at the very moment of their login
	log      safeBuffer
	serving  sync.WaitGroup
	patience time.Duration // the login deadline
	wrap     func(net.Conn) net.Conn
}

// logsIn is the proxy's loggedIn.
func (h *hall) logsIn() bool {
	h.known.Add(1)
	return !h.goes.Load()
}

// safeBuffer has the log.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// password is the password of every account that has one.
const password = "right"

var oneVerifier = sync.OnceValue(func() scram.Verifier {
	v, err := scram.NewVerifier(password, 1)
	if err != nil {
		panic(err)
	}
	return v
})

// residents are the accounts of a hall. ann and another one may log in, one has expired, and one has no verifier.
func residents() []account.Account {
	return []account.Account{
		{Name: "ann", Verifier: oneVerifier(), ConnectionLimit: account.NoLimit},
		{Name: "bob", Verifier: oneVerifier(), ConnectionLimit: 1},
		{Name: "old", Verifier: oneVerifier(), ConnectionLimit: account.NoLimit, ValidUntil: noon.Add(-1)},
		{Name: "crt", ConnectionLimit: account.NoLimit},
	}
}

type noIDs struct{}

func (noIDs) TryNextN(int) (int64, int, error)               { return 0, 0, errors.New("no grant") }
func (noIDs) NextN(context.Context, int) (int64, int, error) { return 0, 0, errors.New("no grant") }

func newHall(t testing.TB, change ...func(*Settings)) *hall {
	t.Helper()
	h := &hall{t: t, patience: time.Hour}
	h.accounts.Store(account.NewList(residents(), []byte("secret"), noon))
	settings := Settings{
		Database: "ids", IDs: draw.New(noIDs{}, nil), Accounts: h.accounts.Load,
		Unavailable: func(err error) fault.Error { return fault.Error{SQLState: "57P03", Message: err.Error()} },
		Parameters:  func() map[string]string { return real },
		Log:         slog.New(slog.NewTextHandler(&h.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	for _, c := range change {
		c(&settings)
	}
	var err error
	if h.server, err = New(settings); err != nil {
		t.Fatal(err)
	}
	h.server.now = func() time.Time { return noon.Add(time.Duration(h.clock.Load())) }
	if h.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	h.serving.Go(h.accept)
	t.Cleanup(func() { h.listener.Close(); h.serving.Wait() })
	return h
}

func (h *hall) accept() {
	for {
		conn, err := h.listener.Accept()
		if err != nil {
			return
		}
		h.serving.Go(func() { h.serve(conn) })
	}
}

// serve does what the proxy does.
func (h *hall) serve(conn net.Conn) {
	defer conn.Close()
	if offer := h.tls.Load(); offer != nil {
		inside, err := offer.Accept(conn, nil, nil)
		if err != nil {
			return
		}
		conn = inside
	}
	head := make([]byte, 4)
	if _, err := io.ReadFull(conn, head); err != nil {
		return
	}
	packet := make([]byte, binary.BigEndian.Uint32(head))
	copy(packet, head)
	if _, err := io.ReadFull(conn, packet[4:]); err != nil {
		return
	}
	if h.wrap != nil {
		conn = h.wrap(conn)
	}
	h.server.Serve(conn, wanted(h.t, packet), time.Now().Add(h.patience), h.logsIn,
		h.server.log.With("client", conn.RemoteAddr()))
}

// secured gives TLS to a hall. Its clients get the CAs and the server's certificate.
func (h *hall) secured(asksForCertificate bool) *authority.Authority {
	h.t.Helper()
	ca := authority.New(h.t, "ca")
	pool := ca.Pool()
	if !asksForCertificate {
		pool = nil
	}
	offer, err := pgtls.NewClient(ca.Issue(h.t, authority.Leaf{Hosts: []string{"127.0.0.1"}}).TLS, pool)
	if err != nil {
		h.t.Fatal(err)
	}
	h.tls.Store(offer)
	return ca
}

// logged waits until the log has a text.
func (h *hall) logged(text string) {
	h.t.Helper()
	late := time.After(giveUp)
	for !strings.Contains(h.log.String(), text) {
		select {
		case <-late:
			h.t.Fatalf("the log does not say %q:\n%s", text, h.log.String())
		case <-time.After(time.Millisecond):
		}
	}
}

// counts fails the test unless n logins had this outcome.
func (h *hall) counts(how string, n int64) {
	h.t.Helper()
	if got := h.server.Stats().Logins[how]; got != n {
		h.t.Errorf("logins %s: %d; expected %d (%v)", how, got, n, h.server.Stats().Logins)
	}
}

// nothingIsLeft fails the test if a session has left something behind.
func (v *Server) nothingIsLeft(t testing.TB, key []byte) {
	t.Helper()
	all, _ := v.register.Open()
	_, found := v.register.OfKey(string(key))
	if len(all) != 0 || v.slots.taken != 0 || len(v.slots.ofUser) != 0 || found {
		t.Errorf("sessions %d, slots %d, users %v, a key %v; expected none", len(all), v.slots.taken, v.slots.ofUser,
			found)
	}
}

// empties waits until no client is left, as Drain does.
func (h *hall) empties() { h.t.Helper(); h.has(0) }

// has waits until only so many clients are left.
func (h *hall) has(most int) {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), giveUp)
	defer cancel()
	if !h.server.register.AwaitLeft(ctx, most) {
		left, _ := h.server.register.Open()
		h.t.Fatalf("%d are left", len(left))
	}
}
