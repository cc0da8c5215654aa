package node

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"pgflurry/proxy"
	"pgflurry/segment"
)

// databases are those whose sessions may be answered. The list may change at any time, and always by prepare, at the
// start too. The work that run does for a database begins when it is listed, and ends when it is removed.
type databases struct {
	open func(name string) (*segment.Source, error) // makes the source of a database's segments

	mu      sync.RWMutex
	ever    map[string]*database // all that were ever listed, because sessions keep a pointer
	listed  []*listing           // in the order of the list
	changed chan struct{}        // closed and replaced when the list changes
	judged  chan struct{}        // closed once every listed database was judged
}

// A database is what its sessions hold, even when it is no longer listed.
type database struct {
	name       string
	permission permission
	source     atomic.Pointer[segment.Source] // nil: not listed
	mu         sync.Mutex                     // guards place, and what sets the permission
	place      string                         // that the last look has found (namespace.Place); empty: none yet
}

func newDatabase(name string) *database {
	x := &database{name: name}
	x.permission.sessions.Store(new(proxy.Permission))
	return x
}

// A listing is a database from when it is listed until it is removed.
type listing struct {
	*database
	numbers *segment.Source
	first   bool          // it was on the list at the start
	over    chan struct{} // closed when it is removed
	known   bool          // the watch has judged it; guarded by databases.mu
}

func newDatabases(open func(string) (*segment.Source, error)) *databases {
	return &databases{
		open: open, ever: make(map[string]*database), changed: make(chan struct{}), judged: make(chan struct{}),
	}
}

// prepare makes what a new list needs. Nothing changes before commit, which cannot fail. Databases on both lists stay
// untouched. The caller prepares and commits one list after the other.
func (d *databases) prepare(names []string) (commit func(), err error) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	var next []*listing
	for _, name := range names {
		if listed(next, name) != nil {
			continue
		}
		l := listed(d.listed, name)
		if l == nil {
			l = &listing{database: d.ever[name], first: d.listed == nil, over: make(chan struct{})}
			if l.database == nil {
				l.database = newDatabase(name)
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
func listed(list []*listing, name string) *listing {
	if i := slices.IndexFunc(list, func(l *listing) bool { return l.name == name }); i >= 0 {
		return list[i]
	}
	return nil
}

func (d *databases) replace(next []*listing) {
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
			d.ever[l.name] = l.database
		}
	}
	d.listed = next
	close(d.changed)
	d.changed = make(chan struct{})
	d.tellJudged()
}

// begin lists the database: its segments can be drawn from, and a watch may give permission.
func (l *listing) begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.permission.set(judgement{idsWhy: notJudged, segmentsWhy: notJudged})
	l.source.Store(l.numbers)
}

// end removes the database from the list. Its permission ends at once, and no watch can restore it.
func (l *listing) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.over)
	l.permission.set(judgement{idsWhy: notListed, segmentsWhy: notListed})
	l.source.Store(nil)
}

// permit applies a judgement, unless the database was removed from the list meanwhile.
func (l *listing) permit(j judgement) { l.unlessOver(func() { l.permission.set(j) }) }

// say replaces only the reasons of a judgement, and leaves the permission.
func (l *listing) say(j judgement) { l.unlessOver(func() { l.permission.judgement.Store(&j) }) }

// tellAway records whether the last look found no PostgreSQL, and why; empty: it found one.
func (l *listing) tellAway(why string) {
	l.unlessOver(func() {
		j := *l.permission.judgement.Load()
		j.away = why
		l.permission.judgement.Store(&j)
	})
}

func (l *listing) unlessOver(do func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.over:
	default:
		do()
	}
}

// run runs work for each listed database, in a goroutine of its own, until ctx ends and all have returned. The context
// of work ends when its database is removed from the list.
func (d *databases) run(ctx context.Context, work func(context.Context, *listing)) {
	var running sync.WaitGroup
	defer running.Wait()
	var before []*listing
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
func (l *listing) while(ctx context.Context, work func(context.Context, *listing)) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-l.over:
			cancel()
		case <-ctx.Done():
		}
	}()
	work(ctx, l)
	cancel()
	<-done
}

// list is the present list, and a channel that is closed when the list changes.
func (d *databases) list() (list []*listing, changed <-chan struct{}) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.listed, d.changed
}

// wasJudged records that a database was judged.
func (d *databases) wasJudged(l *listing) {
	d.mu.Lock()
	defer d.mu.Unlock()
	l.known = true
	d.tellJudged()
}

// tellJudged closes judged once every listed database was judged.
func (d *databases) tellJudged() {
	select {
	case <-d.judged:
		return
	default:
	}
	if !slices.ContainsFunc(d.listed, func(l *listing) bool { return !l.known }) {
		close(d.judged)
	}
}

// of finds what a session to a database holds; nil: the database was never listed.
func (d *databases) of(name string) *database {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.ever[name]
}

// permissionOf is what a session to a database may get from memory; nil: nothing.
func (d *databases) permissionOf(name string) *proxy.Permission {
	if known := d.of(name); known != nil {
		return known.permission.sessions.Load()
	}
	return nil
}

// numbersOf is what a session to a database draws its numbers from; nil: nothing.
func (d *databases) numbersOf(name string) proxy.Segments {
	if known := d.of(name); known != nil {
		return sessionNumbers{known, known.permission.sessions.Load()}
	}
	return nil
}

var errNotListed = errors.New("the database is not listed")

// TryNextN implements proxy.Segments by the source of the listing. The source reserves its blocks through the upstream,
// as the sessions of the database would: in the same table from which the function there draws.
func (x *database) TryNextN(tag []byte, n int) (first int64, count int, err error) {
	source := x.source.Load()
	if source == nil {
		return 0, 0, errNotListed
	}
	return source.TryNextN(tag, n)
}

// NextN implements proxy.Segments.
func (x *database) NextN(ctx context.Context, tag []byte, n int) (first int64, count int, err error) {
	source := x.source.Load()
	if source == nil {
		return 0, 0, errNotListed
	}
	return source.NextN(ctx, tag, n)
}
