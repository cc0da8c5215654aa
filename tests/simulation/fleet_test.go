//go:build full

package simulation

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgflurry/generator"
	"pgflurry/internal/lease"
	"pgflurry/tests/support/rows"
)

// A fleet is hundreds or thousands of proxies' cores over one table: real keepers, clocks and generators. The database
// costs as much as a real one did in measurements (capacity). Time is faked, and only one goroutine runs at a time: a
// keeper goes on when its event on the agenda is due. So a seed gives the same hours again.
type fleet struct {
	t        testing.TB
	random   *rand.Rand
	layout   generator.Layout
	window   time.Duration
	start    time.Time
	database *database
	agenda   agenda
	order    int
	turn     chan struct{} // a member gives it back when it needs the fleet to go on
	members  []*member
	ids      []int64
	seconds  []second
	current  second // the second that runs
}

// A second is what a database was asked in a second, and the state of the fleet at its end.
type second struct {
	renewals, granted, refused, lost int // by what came of it
	logins                           int
	issuing                          int // members that have IDs
	taken                            int // workers that no other node could take
}

func (s second) questions() int { return s.renewals + s.granted + s.refused + s.lost }

// fleetSettings are a fleet's world. The zero value is the default namespace.
type fleetSettings struct {
	workerBits int
	window     time.Duration
	capacity   capacity
}

// newFleet has to be called within a synctest bubble.
func newFleet(t testing.TB, s fleetSettings) *fleet {
	bits, window := s.workerBits, s.window
	if bits == 0 {
		bits = 10
	}
	if window == 0 {
		window = time.Minute
	}
	layout := generator.DefaultLayout()
	layout.WorkerBits, layout.SequenceBits = bits, 22-bits
	const databaseWorkers = 16
	f := &fleet{
		t: t, random: rand.New(rand.NewPCG(18, 18)), layout: layout, window: window, start: time.Now(),
		turn: make(chan struct{}),
	}
	f.database = &database{f: f, capacity: s.capacity, table: rows.Table{
		Settings: rows.Settings{
			Namespace: name, MaxWindow: window.Milliseconds(), Skew: 2000,
			Quarantine: max(2*time.Minute, window+4*time.Second).Milliseconds(),
			End:        1 << layout.TimestampBits, Unit: 1000,
		},
		Server: "00000001", Timeline: "00000001", Rows: make([]rows.Row, 1<<bits),
	}}
	for i := range f.database.table.Rows {
		f.database.table.Rows[i] = rows.Row{Kept: i < databaseWorkers, Renewed: -1}
	}
	f.at(time.Second, f.sample)
	return f
}

// inFleet runs a story in a bubble, ends the fleet, and fails if an ID came twice.
func inFleet(t *testing.T, s fleetSettings, story func(*fleet)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, s)
		story(f)
		for _, m := range f.members {
			m.kill()
		}
		f.unique()
	})
}

func (f *fleet) now() time.Duration { return time.Since(f.start) }

// An entry of the agenda. Entries of the same moment run in the order in which they were made.
type entry struct {
	at    time.Duration
	order int
	do    func()
}

type agenda []entry

func (a agenda) Len() int      { return len(a) }
func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *agenda) Push(e any)   { *a = append(*a, e.(entry)) }

func (a agenda) Less(i, j int) bool {
	return a[i].at < a[j].at || a[i].at == a[j].at && a[i].order < a[j].order
}

func (a *agenda) Pop() any {
	last := (*a)[len(*a)-1]
	*a = (*a)[:len(*a)-1]
	return last
}

// at puts something on the agenda.
func (f *fleet) at(moment time.Duration, do func()) {
	f.order++
	heap.Push(&f.agenda, entry{at: max(moment, f.now()), order: f.order, do: do})
}

// pass lets time pass, and runs all entries that are due.
func (f *fleet) pass(d time.Duration) {
	end := f.now() + d
	for len(f.agenda) > 0 && f.agenda[0].at <= end {
		e := heap.Pop(&f.agenda).(entry)
		time.Sleep(e.at - f.now())
		e.do()
	}
	time.Sleep(end - f.now())
}

// sample closes a second. Each member that can draws an ID.
func (f *fleet) sample() {
	s := &f.current
	f.database.taken = f.database.occupied()
	s.taken = f.database.taken
	for _, m := range f.members {
		if m.draw() {
			s.issuing++
		}
	}
	f.seconds = append(f.seconds, *s)
	*s = second{}
	f.at(f.now()+time.Second, f.sample)
}

// unique fails if an ID came twice.
func (f *fleet) unique() {
	slices.Sort(f.ids)
	for i := range f.ids[1:] {
		if f.ids[i] == f.ids[i+1] {
			f.t.Fatalf("ID %d came twice", f.ids[i])
		}
	}
}

// A member is one proxy's core.
type member struct {
	f      *fleet
	node   string
	keeper *lease.Keeper
	source *generator.Generator
	stop   context.CancelFunc
	reply  chan error

	sleeping  int // number of the wait it is in; 0: none
	waits     int
	job       *job // the statement that it waits for
	connected int  // life of the database that its connection belongs to; 0: none
	killed    bool
	ended     bool
	err       error
}

// begin starts a member.
func (f *fleet) begin(node string) *member {
	clock := lease.NewClock(f.layout.Unit)
	chance := rand.New(rand.NewPCG(f.random.Uint64(), 18))
	m := &member{f: f, node: node, reply: make(chan error)}
	var err error
	m.source, err = generator.New(generator.Settings{
		Layout: f.layout, Now: clock.Now, Random: func(limit uint32) uint32 { return chance.Uint32N(limit) },
	})
	must(err)
	m.keeper, err = lease.NewKeeper(lease.Settings{
		Namespace: name, Store: m, Issuer: m.source, Clock: clock, Node: node, Window: f.window,
		FirstWindow: min(5*time.Second, f.window), Wait: m.wait, Jitter: chance.Float64,
	})
	must(err)
	ctx, stop := context.WithCancel(context.Background())
	m.stop = stop
	f.members = append(f.members, m)
	go func() {
		m.err = m.keeper.Run(ctx)
		m.ended = true
		f.turn <- struct{}{}
	}()
	<-f.turn
	return m
}

// ask passes the turn to the fleet. The member's goroutine calls it.
func (m *member) ask() error {
	m.f.turn <- struct{}{}
	return <-m.reply
}

// goOn lets the member run until it needs the fleet again.
func (m *member) goOn(err error) {
	m.reply <- err
	<-m.f.turn
	if m.ended && m.err != nil {
		m.f.t.Fatalf("the keeper of %s gave up: %v", m.node, m.err)
	}
}

func (m *member) wait(_ context.Context, d time.Duration, _ <-chan struct{}) bool {
	if m.killed {
		return false
	}
	m.waits++
	this := m.waits
	m.sleeping = this
	m.f.at(m.f.now()+d, func() {
		if m.sleeping == this {
			m.sleeping = 0
			m.goOn(nil)
		}
	})
	_ = m.ask()
	return false
}

// draw draws an ID if there is one.
func (m *member) draw() bool {
	id, count, err := m.source.TryNextN(1)
	if count == 0 {
		if !errors.Is(err, generator.ErrGrantEnded) && !errors.Is(err, generator.ErrNoGrant) &&
			!errors.Is(err, generator.ErrSealed) {
			m.f.t.Fatalf("%s: %v", m.node, err)
		}
		return false
	}
	m.f.ids = append(m.f.ids, id)
	return true
}

// finish lets the member end in good order. It goes on until its release is done.
func (m *member) finish() {
	m.stop()
	if m.sleeping != 0 {
		m.sleeping = 0
		m.goOn(context.Canceled)
	}
}

// kill ends the member at once. A statement under way happens or not, and nobody learns which.
func (m *member) kill() {
	if m.ended {
		return
	}
	m.killed, m.sleeping = true, 0
	if m.job != nil {
		m.job.asker, m.job = nil, nil
	}
	m.Close()
	m.stop()
	m.goOn(errCut)
}

// names returns names for n nodes.
func names(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("node-%05d", i)
	}
	return all
}
