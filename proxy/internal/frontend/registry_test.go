package frontend

import (
	"context"
	"testing"
)

// one is a session that answers at once.
type one struct {
	counts              Counts
	interrupted, killed bool
	registry            *Registry[*one]
}

func (o *one) AddTo(x *Sums)  { x.Opened++; x.Add(&o.counts) }
func (o *one) Closed() Reason { return ClosedDrain }
func (o *one) Interrupt()     { o.interrupted = true }
func (o *one) Kill()          { o.killed = true; o.registry.Leave(o) }

func newRegistry() *Registry[*one] {
	r := new(Registry[*one])
	r.Begin()
	return r
}

func TestASessionThatLeavesIsCountedAndItsKeyIsFree(t *testing.T) {
	r := newRegistry()
	s := &one{registry: r}
	r.Leave(s) // it has not entered, so nothing is counted
	r.Enter(s)
	r.SetKey(s, "first")
	r.SetKey(s, "second")
	s.counts.Drew(0, 7)
	_, before := r.OfKey("first")
	of, found := r.OfKey("second")
	if before || !found || of != s {
		t.Errorf("the replaced key is known: %v; the other one: %v", before, found)
	}
	r.Leave(s)
	r.Leave(s)
	all, sums := r.Open()
	if _, found := r.OfKey("second"); found || len(all) != 0 {
		t.Errorf("its key is known: %v; %d sessions are open", found, len(all))
	}
	if closed := sums.Closed(ClosedDrain, ClosedClient); sums.Opened != 1 || sums.IDs != 7 || closed["drain"] != 1 ||
		closed["client"] != 0 {
		t.Errorf("the sums are %+v", sums)
	}
}

func TestADrainInterruptsAllSessionsAndKillsThoseThatAreLate(t *testing.T) {
	r := newRegistry()
	s := &one{registry: r}
	r.Enter(s)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	late := 0
	r.Drain(ctx, func(left int) { late = left })
	if !s.interrupted || !s.killed || late != 1 || r.Enter(&one{registry: r}) {
		t.Errorf("interrupted %v, killed %v, %d late; or another session may enter", s.interrupted, s.killed, late)
	}
}

func TestSettleWaitsForEveryConnectionThatArrives(t *testing.T) {
	r := newRegistry()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r.Arrives()
	if r.Settle(ctx) {
		t.Error("it does not wait")
	}
	go r.Arrived()
	if !r.Settle(context.Background()) {
		t.Error("it waits for nobody")
	}
}
