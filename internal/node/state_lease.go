package node

import (
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/internal/connect"
	"pgflurry/internal/fault"
	"pgflurry/internal/lease"
	"pgflurry/internal/lease/holder"
	"pgflurry/internal/namespace"
	"pgflurry/internal/report"
)

// A trouble is why there is no worker, or no renewal. The zero value: all is well.
type trouble struct{ reason, cause, hint string }

// Before the first answers there is none, and nothing is wrong.
var (
	namespaceUnread = trouble{cause: "the namespace was not read yet"}
	notYetAcquired  = trouble{cause: "the first attempt to get a worker is under way"}
)

// state is a part of State that is cheap enough for many clients: it does not count sessions.
func (u *supply) state() report.State {
	s := report.State{At: u.clock.wall()}
	u.fill(&s)
	return s
}

// fill adds namespace, lease and clock.
func (u *supply) fill(s *report.State) {
	unread := u.unread.Load() // first: if it is nil, the namespace is known
	known := u.known.Load()
	if known != nil {
		s.Namespace = reportNamespace(known.namespace)
		u.fillLease(s, known)
	} else {
		s.Lease.Window = u.settings.Window
	}
	if unread != nil {
		s.Lease.Granted = false // what was granted before is given back
		unread.fill(&s.Lease)
	}
}

func spans(workers namespace.Ranges) (all report.Spans) {
	for _, r := range workers {
		all = append(all, report.Span{First: r.Lowest, Last: r.Highest})
	}
	return all
}

func reportNamespace(ns namespace.Namespace) report.Namespace {
	return report.Namespace{
		ID: ns.ID, Layout: ns.Layout.String(), End: ns.Layout.End(),
		Region: ns.Region, Lowest: ns.Workers().Lowest, Workers: ns.Workers().Size(),
		Functions: spans(ns.Functions),
	}
}

// fillLease adds the worker, and the clock of its IDs. No ID depends on the machine's wall clock, which only dates the
// state.
func (u *supply) fillLease(s *report.State, known *known) {
	st := known.keeper.Stats()
	s.Lease, s.Clock = st.Lease, st.Clock
	l, layout, now := &s.Lease, known.namespace.Layout, u.clock.wall() // now is the moment st.At
	wall := func(at time.Duration) time.Time { return now.Add(at - st.At) }
	l.Window = u.settings.Window
	if l.Granted {
		l.Until = layout.Time(st.Until)
	}
	if st.Opens > 0 {
		l.Opens = wall(st.Opens)
	}
	if l.Lost != "" {
		l.LostAt = wall(st.LostAt)
	}
	if l.Forgotten > 0 {
		l.ForgottenAt = wall(st.ForgottenAt)
	}
	if s.Clock.Known {
		l.Renewed = wall(st.Acknowledged)
		// assume that the database read its clock halfway through the round trip
		read := time.Duration(st.Micros)*time.Microsecond + s.Clock.RoundTrip/2
		s.Clock.Offset = l.Renewed.Sub(layout.Epoch.Add(read))
	}
	u.troubleOf(st).fill(l)
}

func (t *trouble) fill(l *report.Lease) { l.Reason, l.Cause, l.Hint = t.reason, t.cause, t.hint }

// troubleOf classifies the last failure of a keeper.
func (u *supply) troubleOf(st lease.Stats) *trouble {
	switch {
	case st.Cause == nil && !st.Lease.Granted:
		return &notYetAcquired
	case st.Cause == nil:
		return &trouble{}
	}
	t := &trouble{reason: fault.Unanswered, cause: connect.OneLine(st.Cause), hint: u.leaseHint(st.Cause)}
	var refusal *lease.Refusal
	var lost *lease.Lost
	switch {
	case errors.As(st.Cause, &refusal):
		t.reason, t.hint = reasonOf(refusal)
	case errors.As(st.Cause, &lost):
		t.reason, t.hint = fault.Lost, fault.Of(fault.Lost).Hint
	}
	return t
}

// reasonOf classifies refusals, and says what to do about each.
func reasonOf(r *lease.Refusal) (reason, hint string) {
	switch {
	case r.Reason == lease.NoWorker && r.Workers == 0:
		return fault.NoneFree, fault.RangeHint
	case r.Reason == lease.NoWorker && r.Retired == r.Workers:
		return fault.NoneFree, fault.RetiredHint
	}
	return string(r.Reason), fault.Of(string(r.Reason)).Hint
}

// leaseHint says what to do about an error of the lease database.
func (u *supply) leaseHint(err error) string {
	advice := adviceFor(err, u.lease.User)
	if said := new(pgconn.PgError); advice == "" && errors.As(err, &said) {
		return said.Hint
	}
	return advice
}

// adviceFor says what to do about an error of a role at the lease database; empty: not known.
func adviceFor(err error, role string) string {
	advice := fault.HintOf(connect.Explain(err))
	if advice == "" {
		return fault.HintOf(namespace.AsLessee(err, role))
	}
	return advice
}

// unreadFor says why the namespace could not be read.
func unreadFor(err error) *trouble {
	t := &trouble{reason: fault.Unanswered, cause: connect.OneLine(err), hint: fault.HintOf(connect.Explain(err))}
	var missing *namespace.NotMigratedError
	var copied *holder.CopyError
	switch {
	case errors.As(err, &copied):
		t.reason, t.hint = reasonOf(&lease.Refusal{Reason: lease.Copy})
	case errors.As(err, &missing):
		t.reason = fault.NoNamespace
	}
	return t
}
