package lease

import (
	"errors"
	"fmt"
	"time"

	"pgflurry/internal/connect"
	"pgflurry/internal/fault"
	"pgflurry/internal/logs"
)

// What a keeper logs. It does not log a healthy renewal. It logs a failure when it begins, when its kind changes, and
// each minute while it lasts.

// logGranted logs that a worker was acquired, or that grants come again.
func (k *Keeper) logGranted(acquired bool) {
	g, now := k.issued.Load(), k.clock.Monotonic()
	lasted := k.failing.Lasted(now)
	recovered := k.failing.Right("")
	k.cause, k.ended = "", false
	switch {
	case acquired:
		// the first grant reserves little; each renewal reserves more, up to the window
		k.log.Info("worker acquired", "worker", g.Worker, "term", g.term, "reserved_for", k.left(),
			"window", k.clock.duration(k.protocol.window))
	case recovered:
		fields := []any{"worker", g.Worker, "reserved_for", k.left()}
		k.log.Info("renewing again", append(fields, logs.Fields(lasted)...)...)
	}
}

// logFailed logs an attempt that granted nothing, if it is due.
func (k *Keeper) logFailed(err error) {
	finding, explained := findingOf(err), connect.Explain(err)
	k.cause = explained.Error()
	due, lasted := k.failing.Wrong(finding, k.clock.Monotonic())
	if !due {
		return
	}
	fields := append([]any{"cause", explained}, logs.Fields(lasted)...)
	fields = append(fields, fault.HintField(fault.HintOf(explained))...)
	// If there is a grant, IDs continue from it for so long.
	if left := k.left(); left > 0 {
		k.log.Warn(finding, append(fields, "reserved_for", left)...)
	} else {
		k.log.Warn(finding, append(fields, "calls", k.without)...)
	}
}

// left returns how long the issuer's grant lasts, for people.
func (k *Keeper) left() time.Duration {
	until := k.issued.Load().Until
	return k.clock.duration(max(0, until-max(0, k.clock.Now()))).Round(time.Millisecond)
}

// findingOf names the kind of a failure. Two failures of one kind are one finding, even if their details differ.
func findingOf(err error) string {
	var refusal *Refusal
	var lost *Lost
	switch {
	case errors.As(err, &refusal):
		return fault.Of(string(refusal.Reason)).Log
	case errors.As(err, &lost):
		return fault.Of(fault.Lost).Log
	case connect.IsNoPassword(err):
		return "the password command gives no password, so nobody asks the database"
	default:
		return fault.Of(fault.Unanswered).Log
	}
}

// logUngated logs once that no gate protects against a failover that loses commits. No setting replaces the gate.
func (k *Keeper) logUngated(a Acquired) {
	if a.Ungated && !k.ungated {
		k.ungated = true
		k.log.Warn("the server does not tell its WAL timeline: a failover that loses commits goes unnoticed; " +
			"run \"pgflurry workers reseed\" after one")
	}
}

// logAhead logs that IDs are further ahead of the database's clock than a renewal reserves. That clock, and with it the
// worker's mark, once stood ahead. IDs stay unique and continue. But until the clock catches up, their time is wrong,
// and so is their order among other workers' IDs.
func (k *Keeper) logAhead(worker int, databaseMicros int64) {
	ahead := k.clock.duration(k.clock.Now() - databaseMicros/k.clock.unit)
	if ahead <= k.clock.duration(k.protocol.window) {
		k.ahead.Right("")
		return
	}
	if due, _ := k.ahead.Wrong("ahead", k.clock.Monotonic()); due {
		k.log.Error("IDs are far ahead of the database's clock, which must have stood ahead once",
			"worker", worker, "ahead", ahead.Round(time.Second),
			"hint", fmt.Sprintf("If that clock is right now, restart this process, which then takes another worker, "+
				"and run \"pgflurry workers retire %d\".", worker))
	}
}

func (k *Keeper) logLost(l *Lost) {
	if l.CommitLost() {
		k.record.forgot(k.clock.Monotonic())
		k.log.Error("the database has lost a commit it had acknowledged; "+
			"was it failed over to an asynchronous standby, or restored?",
			"worker", l.Worker, "acknowledged", l.Acknowledged, "reserved_until", l.Mark)
	}
}

// logEnd logs once that the grant has ended without a new one. An operator does not know the word.
func (k *Keeper) logEnd() {
	until := k.issued.Load().Until
	if k.ended || k.cause == "" || until == 0 || k.clock.Now() < until {
		return
	}
	k.ended = true
	k.log.Error("no IDs are left: the lease was not renewed in time", "calls", k.without, "cause", k.cause)
}
