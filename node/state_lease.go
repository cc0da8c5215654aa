package node

import (
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/connstring"
	"pgflurry/generator"
	"pgflurry/hint"
	"pgflurry/lease"
	"pgflurry/namespace"
	"pgflurry/report"
)

// Reasons why there is no worker, or no renewal.
const (
	reasonGate        = "gate"
	reasonStarting    = "starting"
	reasonClosed      = "closed"
	reasonNoneFree    = "none_free"
	reasonCopy        = "copy"
	reasonNoNamespace = "no_namespace"
	reasonUnanswered  = "unanswered"
	reasonLost        = "lost"
)

// A trouble is why there is no worker, or no renewal. The zero value: all is well.
type trouble struct{ reason, cause, hint string }

// Before the first answers there is no worker, and nothing is wrong.
var (
	namespaceUnread = trouble{cause: "the namespace was not read yet"}
	notYetAcquired  = trouble{cause: "the first attempt to get a worker is under way"}
)

// tellLease adds the worker, and the clock of its IDs. No ID depends on the machine's wall clock, which only dates the
// state.
func (n *Node) tellLease(s *report.State, known *known) {
	if known == nil {
		s.Lease = report.Lease{Window: n.settings.Window}
		n.unread.Load().tell(&s.Lease)
		return
	}
	st := known.keeper.Stats()
	now := n.clock.wall() // at the moment st.At
	s.Lease = report.Lease{
		Held: st.Held, Worker: st.Last.Worker, Granted: st.Granted, Reserve: st.Left, Window: n.settings.Window,
		Until:    until(known.namespace.Layout, st),
		Renewals: st.Renewals, Acquisitions: st.Acquisitions, RenewalDurations: st.RenewalDurations,
	}
	if st.Opens > 0 {
		s.Lease.Opens = now.Add(st.Opens - st.At)
	}
	if st.Lost != nil {
		s.Lease.Lost, s.Lease.LostAt = st.Lost.Error(), now.Add(st.LostAt-st.At)
	}
	if s.Lease.Forgotten = st.Forgotten; st.Forgotten > 0 {
		s.Lease.ForgottenAt = now.Add(st.ForgottenAt - st.At)
	}
	n.troubleOf(st).tell(&s.Lease)
	if !st.Told {
		return
	}
	s.Lease.Renewed = now.Add(st.Clean - st.At)
	// assume that the database read its clock halfway through the round trip
	told := time.Duration(st.Micros)*time.Microsecond + st.Trip/2
	database := known.namespace.Layout.Epoch.Add(told + st.At - st.Clean)
	s.Clock = report.Clock{
		Known: true, Offset: now.Sub(database), Ahead: st.Ahead, RoundTrip: st.Trip, Slowed: st.Ahead > 0,
	}
}

// until is the mark of the grant in use, or of the last one.
func until(layout generator.Layout, st lease.Stats) time.Time {
	if !st.Granted {
		return time.Time{}
	}
	return layout.Time(st.Last.Until)
}

func (t *trouble) tell(l *report.Lease) { l.Reason, l.Cause, l.Hint = t.reason, t.cause, t.hint }

// troubleOf classifies the last failure of a keeper.
func (n *Node) troubleOf(st lease.Stats) *trouble {
	switch {
	case st.Cause == nil && !st.Granted:
		return &notYetAcquired
	case st.Cause == nil:
		return &trouble{}
	}
	t := &trouble{reason: reasonUnanswered, cause: connstring.OneLine(st.Cause), hint: n.leaseHint(st.Cause)}
	var refusal *lease.Refusal
	var lost *lease.Lost
	switch {
	case errors.As(st.Cause, &refusal):
		t.reason, t.hint = reasonOf(refusal)
	case errors.As(st.Cause, &lost):
		t.reason = reasonLost
		t.hint = "The grant in hand may be finished. The node takes another worker by itself."
	}
	return t
}

// reasonOf classifies refusals, and says what to do about each.
func reasonOf(r *lease.Refusal) (reason, hint string) {
	switch {
	case r.Reason == lease.GateClosed:
		return reasonGate, "The gate opens by itself: no worker is granted that its former holder could still use."
	case r.Reason == lease.Starting:
		return reasonStarting, "It ends by itself: the server may have forgotten grants, and they are over by then. " +
			`If a restart of it never forgets anything, run "pgflurry migrate up --restart-quarantine 0s".`
	case r.Reason == lease.Closed:
		return reasonClosed, "Point the proxy to the database that has taken its place. " +
			`If none has, run "pgflurry open --database URL".`
	case r.Reason == lease.Copy:
		return reasonCopy, `Run "pgflurry migrate up --database URL" on the lease database, which says how to go on.`
	case r.Retired == r.Workers:
		return reasonNoneFree, "Plan a namespace with a wider layout: a retired worker never comes back."
	}
	return reasonNoneFree, `Stop a proxy that is not needed, or wait. "pgflurry workers list" shows who holds which ` +
		"worker, and when one is free."
}

// leaseHint says what to do about an error of the lease database.
func (n *Node) leaseHint(err error) string {
	advice := adviceFor(err, n.lease.User)
	if said := new(pgconn.PgError); advice == "" && errors.As(err, &said) {
		return said.Hint
	}
	return advice
}

// adviceFor says what to do about an error of a role at the lease database; empty: not known.
func adviceFor(err error, role string) string {
	advice := hint.Of(connstring.Explain(err))
	if said := new(pgconn.PgError); advice == "" && errors.As(err, &said) && said.Code == insufficientPrivilege {
		return "As the owner run: " + namespace.GrantLease(role)
	}
	return advice
}

// insufficientPrivilege is PostgreSQL's code for a missing privilege.
const insufficientPrivilege = "42501"

// unreadFor says why the namespace could not be read.
func unreadFor(err error, copied bool) *trouble {
	t := &trouble{reason: reasonUnanswered, cause: connstring.OneLine(err), hint: hint.Of(connstring.Explain(err))}
	var missing *namespace.NotMigratedError
	switch {
	case copied:
		t.reason, t.hint = reasonOf(&lease.Refusal{Reason: lease.Copy})
	case errors.As(err, &missing):
		t.reason = reasonNoNamespace
	}
	return t
}
