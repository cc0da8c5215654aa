package acknowledge

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgflurry/internal/connect"
	"pgflurry/tests/support/scripted"
)

// gated is a connection whose answers wait at a gate.
type gated struct {
	net.Conn
	gate   atomic.Pointer[chan struct{}] // nil: open
	once   sync.Once
	closed chan struct{}
}

func (g *gated) shut() (open func()) {
	gate := make(chan struct{})
	g.gate.Store(&gate)
	return sync.OnceFunc(func() { close(gate) })
}

func (g *gated) Read(b []byte) (int, error) {
	n, err := g.Conn.Read(b)
	if gate := g.gate.Load(); gate != nil && err == nil {
		select {
		case <-*gate:
		case <-g.closed:
			return 0, net.ErrClosed
		}
	}
	return n, err
}

func (g *gated) Close() error {
	g.once.Do(func() { close(g.closed) })
	return g.Conn.Close()
}

// lateRig is a Writer over connections whose answers may be held back.
type lateRig struct {
	*Writer
	t     *testing.T
	mu    sync.Mutex
	conns []*gated
	dials atomic.Bool // false: the network swallows what goes to a new connection
}

func newLateRig(t *testing.T, answers ...*scripted.Exchange) *lateRig {
	r := &lateRig{t: t}
	r.dials.Store(true)
	config, _ := scripted.Server(t, answers...)
	dial := config.DialFunc
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		if !r.dials.Load() {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		conn, err := dial(ctx, network, address)
		g := &gated{Conn: conn, closed: make(chan struct{})}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.conns = append(r.conns, g)
		return g, err
	}
	r.Writer = NewWriter(config, connect.Rules{})
	t.Cleanup(r.Close)
	return r
}

// opens makes the first connection, and holds its answers back from now on.
func (r *lateRig) opens() (open func()) {
	r.t.Helper()
	if _, err := r.kept.Get(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
	return r.all()[0].shut()
}

func (r *lateRig) all() []*gated {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.conns)
}

// hasEnded waits until the connections that a rig had are closed.
func hasEnded(conns ...*gated) {
	for _, conn := range conns {
		<-conn.closed
	}
}

// isLate writes, and expects no answer in time.
func (r *lateRig) isLate(what string) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), 20*time.Millisecond)
	defer cancel()
	if row, _, err := r.WriteOrLate(ctx, what, aWrite); err == nil {
		r.t.Fatalf("%q has an answer: %v", what, row)
	}
}

// answers writes, and expects a row and the call that it answers.
func (r *lateRig) answers(what string, number int64, to string) {
	r.t.Helper()
	row, asked, err := r.WriteOrLate(r.t.Context(), what, aWrite)
	if err != nil {
		r.t.Fatal(err)
	}
	if got := row.Number(); got != number || asked != to {
		r.t.Errorf("%q has row %d, of %q; expected %d, of %q", what, got, asked, number, to)
	}
	if len(r.late) > 0 {
		r.t.Errorf("%d writes are under way after an answer", len(r.late))
	}
}

func TestInvariant3ALateAnswerIsThatOfALaterCallAndItsConnectionGoesOn(t *testing.T) {
	first, second := scripted.Clean("1"), scripted.Clean("2")
	r := newLateRig(t, &first, &second)
	open := r.opens()
	r.isLate("a")
	r.dials.Store(false)
	r.isLate("b") // no login succeeds
	open()
	r.answers("c", 1, "a")
	r.answers("d", 2, "d")
	if n := len(r.all()); n != 1 {
		t.Errorf("%d connections, expected the first alone", n)
	}
}

func TestANewAnswerEndsTheWritesThatAreLate(t *testing.T) {
	first, second := scripted.Clean("1"), scripted.Clean("2")
	r := newLateRig(t, &first, &second)
	r.opens()
	r.isLate("a")
	r.answers("b", 2, "b")
	hasEnded(r.all()[0])
}

func TestALateAnswerThatComesWhileALaterCallWaitsForItsOwn(t *testing.T) {
	first, second := scripted.Clean("1"), scripted.Clean("2")
	r := newLateRig(t, &first, nil, &second)
	open := r.opens()
	r.isLate("a")
	r.isLate("b") // over a connection that says nothing
	open()
	r.answers("c", 1, "a")
	hasEnded(r.all()[1])
}

func TestALateAnswerThatIsNoAcknowledgementChangesNothing(t *testing.T) {
	spoiled, second := scripted.Clean("1"), scripted.Clean("2")
	spoiled.Status = 'E'
	r := newLateRig(t, &spoiled, &second)
	open := r.opens()
	r.isLate("a")
	a := r.late[0]
	open()
	<-a.over.Done()
	r.answers("b", 2, "b")
	hasEnded(r.all()[0])
}

func TestAnotherWriteEndsThoseThatAreLate(t *testing.T) {
	first, second := scripted.Clean("1"), scripted.Clean("2")
	r := newLateRig(t, &first, &second)
	r.opens()
	r.isLate("a")
	if row, err := r.Write(t.Context(), aWrite); err != nil || row.Number() != 2 {
		t.Errorf("row %v, error %v", row, err)
	}
	hasEnded(r.all()[0])
}

func TestOnlyAFewWritesAreLateAtOnce(t *testing.T) {
	first := scripted.Clean("1")
	r := newLateRig(t, &first, nil)
	r.opens()
	for range mostLate + 1 {
		r.isLate("a")
	}
	if n := len(r.late); n != mostLate {
		t.Errorf("%d writes are late, expected %d", n, mostLate)
	}
	hasEnded(r.all()[mostLate-1])
	r.Close()
	hasEnded(r.all()...)
}

func TestWithoutALateAnswerTheErrorIsThatOfTheLogin(t *testing.T) {
	first := scripted.Clean("1")
	r := newLateRig(t, &first)
	r.opens()
	r.isLate("a")
	r.dials.Store(false)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	if _, _, err := r.WriteOrLate(ctx, "b", aWrite); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
