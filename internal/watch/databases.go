package watch

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"pgflurry/internal/report"
	"pgflurry/internal/segment"
	"pgflurry/proxy/statement"
)

// Databases are those whose sessions may be answered. The list may change at any time, and always by Prepare, at the
// start too. The work that Run does for a database begins when it is listed, and ends when it is removed.
type Databases struct {
	open func(name string) (*segment.Source, error) // makes the source of a database's segments

	mu      sync.RWMutex
	ever    map[string]*Database // all that were ever listed, because sessions keep a pointer
	listed  []*Listing           // in the order of the list
	changed chan struct{}        // closed and replaced when the list changes
	judged  chan struct{}        // closed once every listed database was judged
}

// A Database is what its sessions hold, even when it is no longer listed.
type Database struct {
	name       string
	permission permission
	source     atomic.Pointer[segment.Source] // nil: not listed
	mu         sync.Mutex                     // guards place, and what sets the permission
	place      string                         // that the last look has found (namespace.Place); empty: none yet
}

func newDatabase(name string) *Database {
	x := &Database{name: name}
	x.permission.sessions.Store(new(statement.Permission))
	return x
}

// A Listing is a database from when it is listed until it is removed.
type Listing struct {
	*Database
	numbers *segment.Source
	first   bool            // it was on the list at the start, and was never judged
	over    context.Context // ends when it is removed
	remove  context.CancelFunc
	known   bool // the watch has judged it; guarded by Databases.mu
}

// NewDatabases makes a list without databases. open makes the source of a database's segments.
func NewDatabases(open func(string) (*segment.Source, error)) *Databases {
	return &Databases{
		open: open, ever: make(map[string]*Database), changed: make(chan struct{}), judged: make(chan struct{}),
	}
}

// Prepare makes what a new list needs. Nothing changes before commit, which cannot fail. Databases on both lists stay
// untouched. The caller prepares and commits one list after the other.
func (d *Databases) Prepare(names []string) (commit func(), err error) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	var next []*Listing
	for _, name := range names {
		if listed(next, name) != nil {
			continue
		}
		l := listed(d.listed, name)
		if l == nil {
			l = &Listing{Database: d.ever[name], first: d.listed == nil}
			l.over, l.remove = context.WithCancel(context.Background())
			if l.Database == nil {
				l.Database = newDatabase(name)
			}
			if l.numbers, err = d.open(name); err != nil {
				return nil, err
			}
		}
		next = append(next, l)
	}
	return func() { d.replace(next) }, nil
}

// listed finds a database on a list; nil: it is not there.
func listed(list []*Listing, name string) *Listing {
	if i := slices.IndexFunc(list, func(l *Listing) bool { return l.name == name }); i >= 0 {
		return list[i]
	}
	return nil
}

func (d *Databases) replace(next []*Listing) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, l := range d.listed {
		if !slices.Contains(next, l) {
			l.end()
		}
	}
	for _, l := range next {
		if !slices.Contains(d.listed, l) {
			l.begin()
			d.ever[l.name] = l.Database
		}
	}
	d.listed = next
	close(d.changed)
	d.changed = make(chan struct{})
	d.closeJudged()
}

// Name is that of the database.
func (l *Listing) Name() string { return l.name }

// RunNumbers runs the source of its segments until ctx ends.
func (l *Listing) RunNumbers(ctx context.Context) { l.numbers.Run(ctx) }

// Tags are the tags of its segments, for operators.
func (l *Listing) Tags() []report.Segment {
	tags := l.numbers.Stats()
	for i := range tags {
		tags[i].Database = l.name
	}
	return tags
}

// begin lists the database: its segments can be drawn from, and a watch may give permission.
func (l *Listing) begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.permission.set(undecided())
	l.source.Store(l.numbers)
}

// end removes the database from the list. Its permission ends at once, and no watch can restore it.
func (l *Listing) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.remove()
	l.permission.set(decision{idsWhy: notListed, segmentsWhy: notListed})
	l.source.Store(nil)
}

// permit applies a decision, unless the database was removed from the list meanwhile.
func (l *Listing) permit(j decision) { l.unlessOver(func() { l.permission.set(j) }) }

// say replaces only the reasons of a decision, and leaves the permission.
func (l *Listing) say(j decision) { l.unlessOver(func() { l.permission.decision.Store(&j) }) }

// amend changes what is known beside a decision.
func (l *Listing) amend(change func(*decision)) {
	l.unlessOver(func() {
		j := *l.permission.decision.Load()
		change(&j)
		l.permission.decision.Store(&j)
	})
}

func (l *Listing) unlessOver(do func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over.Err() == nil {
		do()
	}
}

// Run runs work for each listed database, in a goroutine of its own, until ctx ends and all have returned. The context
// of work ends when its database is removed from the list.
func (d *Databases) Run(ctx context.Context, work func(context.Context, *Listing)) {
	var running sync.WaitGroup
	defer running.Wait()
	var before []*Listing
	for {
		list, changed := d.list()
		for _, l := range list {
			if !slices.Contains(before, l) {
				running.Go(func() { l.while(ctx, work) })
			}
		}
		before = list
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// while runs work until ctx ends or the listing is over.
func (l *Listing) while(ctx context.Context, work func(context.Context, *Listing)) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(l.over, cancel)()
	work(ctx, l)
}

// list is the present list, and a channel that is closed when the list changes.
func (d *Databases) list() (list []*Listing, changed <-chan struct{}) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.listed, d.changed
}

// Listed is the present list. It must not be modified.
func (d *Databases) Listed() []*Listing {
	list, _ := d.list()
	return list
}

// Judged is closed once every listed database was judged.
func (d *Databases) Judged() <-chan struct{} { return d.judged }

// wasJudged records that a database was judged.
func (d *Databases) wasJudged(l *Listing) {
	d.mu.Lock()
	defer d.mu.Unlock()
	l.known, l.first = true, false
	d.closeJudged()
}

// closeJudged closes judged once every listed database was judged.
func (d *Databases) closeJudged() {
	select {
	case <-d.judged:
		return
	default:
	}
	if !slices.ContainsFunc(d.listed, func(l *Listing) bool { return !l.known }) {
		close(d.judged)
	}
}

// of finds what a session to a database holds; nil: the database was never listed.
func (d *Databases) of(name string) *Database {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.ever[name]
}

// PermissionOf is what a session to a database may get from memory; nil: nothing.
func (d *Databases) PermissionOf(name string) *statement.Permission {
	if known := d.of(name); known != nil {
		return known.permission.sessions.Load()
	}
	return nil
}

// NumbersOf is what a session to a database draws its numbers from; nil: nothing.
func (d *Databases) NumbersOf(name string) *Numbers {
	if known := d.of(name); known != nil {
		return &Numbers{known, known.permission.sessions.Load()}
	}
	return nil
}

// Why a database gives no numbers, even before its source is asked.
var (
	ErrNotListed  = errors.New("the database is not listed")
	ErrNotJudged  = errors.New("the database was not judged yet")
	ErrNotAllowed = errors.New("the database may not be answered")
)

// Qualified finds a database whose segments may be given now, at least to calls that name the schema of the function.
// Sessions of the database have the same permission.
func (d *Databases) Qualified(name string) (*Database, error) {
	db := d.of(name)
	if db == nil {
		return nil, ErrNotListed
	}
	switch j := db.permission.decision.Load(); {
	case j.segments != answerNothing:
		return db, nil
	case j.at.IsZero():
		return nil, ErrNotJudged
	}
	return nil, ErrNotAllowed
}

// TryNextN gives numbers of the source of the listing (segment.Source). The source reserves its blocks through the
// upstream, as the sessions of the database would: in the same table from which the function there draws.
func (x *Database) TryNextN(tag []byte, n int) (first int64, count int, err error) {
	source := x.source.Load()
	if source == nil {
		return 0, 0, ErrNotListed
	}
	return source.TryNextN(tag, n)
}

// NextN does the same, and waits.
func (x *Database) NextN(ctx context.Context, tag []byte, n int) (first int64, count int, err error) {
	source := x.source.Load()
	if source == nil {
		return 0, 0, ErrNotListed
	}
	return source.NextN(ctx, tag, n)
}
