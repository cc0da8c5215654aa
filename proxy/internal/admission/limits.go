package admission

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// maxHandshakes is how many TLS handshakes work at once. Each needs a processor for a millisecond. Before it has
	// worked, it has no more than its first record in memory. While it waits for its client it has 44 kB; the limit on
	// logins bounds those.
	maxHandshakes = 64
	// MaxCancels is how many cancel requests are on their way at once. Each is a connection to PostgreSQL for about a
	// millisecond.
	MaxCancels = 32
	// MaxUnread is how many connections beyond the limits may say that they only cancel a statement. Each has
	// UnreadTime for that.
	MaxUnread  = 16
	UnreadTime = time.Second
)

// Limits are those of one proxy.
type Limits struct {
	Handshakes, Cancels, Unread *Limit
	Sessions                    *Slots

	maxClients atomic.Int64 // no limit if zero or less
	clients    atomic.Int64
	inside     atomic.Int64 // those among clients that need no upstream: one descriptor instead of two
	turnedAway atomic.Int64
	known      *addresses // of all limits
	logins     *Limit
}

// New makes limits that Set has to fill in. waits gets the goroutines that outlive a call. patience is SlotPatience and
// fairTime is FairTime, except in tests.
func New(waits *sync.WaitGroup, patience, fairTime time.Duration) *Limits {
	known := &addresses{all: make(map[netip.Prefix]struct{})}
	return &Limits{
		known:      known,
		logins:     newLimit(0, 0, fairTime, known),
		Handshakes: newLimit(maxHandshakes, 0, fairTime, known),
		Cancels:    newLimit(MaxCancels, 0, fairTime, known),
		Unread:     newLimit(MaxUnread, 0, UnreadTime, known),
		Sessions: &Slots{
			waits: waits, patience: patience,
			waiting: newLimit(0, 0, fairTime, known), members: newLimit(0, 0, fairTime, known),
		},
	}
}

// Set replaces the limits that an operator chooses; each is none if zero or less. No present member has to go. At most
// a quarter of the clients wait for a slot.
func (l *Limits) Set(clients, logins, loginsPerAddress, upstreamLogins, sessions int) {
	l.maxClients.Store(int64(clients))
	l.logins.Set(logins, loginsPerAddress)
	waiting := logins
	if quarter := max(clients/4, 1); clients > 0 && (logins <= 0 || logins > quarter) {
		waiting = quarter
	}
	l.Sessions.waiting.Set(waiting, loginsPerAddress)
	l.Sessions.members.Set(upstreamLogins, 0)
	l.Sessions.set(sessions)
}

// Errors of Enter.
var (
	ErrClients = errors.New("more connections of clients than there are descriptors for")
	ErrLogins  = errors.New("too many connections that have not logged in")
)

// Connection is a client's, from its accept to its end.
type Connection struct {
	From netip.Prefix // the address that it counts for

	limits  *Limits
	login   *Slot // nil: it has logged in, or had to give way
	slot    *Slot // of its session among the connections to upstream; nil: none
	inside  bool  // it needs no upstream
	gaveWay atomic.Bool
}

// Enter lets in a connection that was just accepted. After an error it is not let in. away ends the connection if that
// has to give way to another; it does not block, and calls GiveWay.
func (l *Limits) Enter(c *Connection, from netip.Prefix, away func()) error {
	c.From, c.limits = from, l
	err := ErrClients
	if n := l.clients.Add(1); !l.over(n) {
		if c.login = l.logins.Enter(from, away); c.login != nil {
			return nil
		}
		err = ErrLogins
	}
	l.turnedAway.Add(1)
	l.clients.Add(-1)
	return err
}

// over says whether there are more clients than the descriptors allow. Two that need no upstream have as many
// descriptors as one other client.
func (l *Limits) over(clients int64) bool {
	most := l.maxClients.Load()
	return most > 0 && clients-l.inside.Load()/2 > most
}

// Full says whether one more connection would be turned away for want of descriptors.
func (l *Limits) Full() bool { return l.over(l.clients.Load() + 1) }

// Clients is how many connections of clients are open, and how many there may be; no limit if most is zero or less.
func (l *Limits) Clients() (open, most int) { return int(l.clients.Load()), int(l.maxClients.Load()) }

// Logins is how many connections have not logged in.
func (l *Limits) Logins() int { return l.logins.Len() }

// Inside is how many connections need no upstream.
func (l *Limits) Inside() int { return int(l.inside.Load()) }

// TurnAway counts a connection that a limit ends.
func (l *Limits) TurnAway() { l.turnedAway.Add(1) }

// TurnedAway is how many connections a limit has ended.
func (l *Limits) TurnedAway() int64 { return l.turnedAway.Load() }

// GiveWay notes that the connection has to give way to another.
func (c *Connection) GiveWay() {
	c.gaveWay.Store(true)
	c.limits.TurnAway()
}

// GaveWay says whether the connection had to give way to another.
func (c *Connection) GaveWay() bool { return c.gaveWay.Load() }

// AcquireSlot takes a slot for a session of the connection (Slots.acquire). The caller gives it back by ReleaseSlot.
// From now on only the limits on connections to upstream hold for it: others must not wait because PostgreSQL is slow.
func (c *Connection) AcquireSlot(open context.Context, login time.Time, away func(), ended func() bool) (err error) {
	if !c.leaveLogins() {
		return net.ErrClosed
	}
	c.slot, err = c.limits.Sessions.acquire(client{c.From, login, away, ended, open})
	if err != nil && err != net.ErrClosed {
		c.limits.TurnAway()
	}
	return err
}

// leaveLogins is false if the connection had to give way before. One goroutine may call it more than once.
func (c *Connection) leaveLogins() bool {
	left := c.limits.logins.Leave(c.login)
	c.login = nil
	return left
}

// Asked says that upstream has asked the client for a proof: it is the client's turn.
func (c *Connection) Asked() { c.limits.Sessions.members.turnOf(c.slot, false) }

// Answered says that the client has given it: it is upstream's turn.
func (c *Connection) Answered() { c.limits.Sessions.members.turnOf(c.slot, true) }

// ReleaseSlot gives back the slot that AcquireSlot has taken.
func (c *Connection) ReleaseSlot() { c.limits.Sessions.release(c.slot) }

// NeedNoUpstream says that the connection needs no upstream: it counts as half of one that does.
func (c *Connection) NeedNoUpstream() {
	c.inside = true
	c.limits.inside.Add(1)
}

// LoggedIn ends the limits on those that have not logged in. It is false if the connection had to give way at this very
// moment: then its client must not believe that it has a session. One goroutine may call it more than once.
func (c *Connection) LoggedIn() bool {
	if !c.leaveLogins() || !c.limits.Sessions.keep(c.slot) {
		return false
	}
	c.limits.known.add(c.From)
	return true
}

// Leave ends the connection.
func (c *Connection) Leave() {
	c.limits.logins.Leave(c.login)
	c.limits.clients.Add(-1)
	if c.inside {
		c.limits.inside.Add(-1)
	}
}
