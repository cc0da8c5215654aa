package lease

import (
	"context"
	"errors"
	"fmt"
	"time"

	"pgflurry/hint"
	"pgflurry/logs"
)

// What a keeper gives to the issuer and to the log. It does not log a healthy renewal. It logs a failure when it
// begins, when its kind changes, and each minute while it lasts.

// grant hands the grant to the issuer. If the issuer refuses it, its settings differ from the database's, and no later
// attempt could succeed.
//
// If the database has lost a commit, the process may get its own worker again, with an earlier end than the issuer has.
// The issuer's grant cannot be shortened. It need not be: it was acknowledged to this process, which holds the worker
// again. It stays until renewals pass it.
func (k *Keeper) grant(g Grant, term int64, event string) error {
	if last := k.last; g.Worker == last.Worker && g.Until < last.Until {
		if event != "" {
			k.logLost(&Lost{Worker: g.Worker, Mark: g.Until, Acknowledged: last.Until})
		}
		g = last
	} else if err := k.issuer.Grant(g.Worker, g.From, g.Until); err != nil {
		return fmt.Errorf("the issuer does not take the grant of worker %d from tick %d until %d: %w",
			g.Worker, g.From, g.Until, err)
	}
	lasted := k.failing.Lasted(k.clock.Monotonic())
	recovered := k.failing.Right("")
	k.last, k.cause, k.ended = g, "", false
	k.record.granted(g, term)
	switch {
	case event != "":
		// the first grant reserves little; each renewal reserves more, up to the window
		k.log.Info(event, "worker", g.Worker, "term", term, "reserved", k.left(g.Until),
			"window", k.clock.duration(k.protocol.window))
	case recovered:
		fields := []any{"worker", g.Worker, "reserved", k.left(g.Until)}
		k.log.Info("renewing again", append(fields, logs.Fields(lasted)...)...)
	}
	k.grantedOnce.Do(func() { close(k.granted) })
	return nil
}

// revoke takes the grant back from the issuer, because the database is closed. The next grant may end earlier than the
// last. The next attempt is over another connection: the address may lead to the database that has taken the place.
func (k *Keeper) revoke() {
	k.issuer.Revoke()
	k.last = Grant{}
	k.record.revoked()
	k.store.Close()
}

// failed records an attempt that granted nothing. If ctx has ended, the keeper itself cut the attempt short, and it is
// no failure.
func (k *Keeper) failed(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	finding, explained := findingOf(err), k.explain(err)
	k.cause = explained.Error()
	held := k.protocol.held != nil
	if refusal := new(Refusal); errors.As(err, &refusal) && refusal.Reason == Closed {
		held = false // the row still has the lease, but it is good for nothing here
	}
	k.record.failed(err, held, k.clock.Monotonic())
	due, lasted := k.failing.Wrong(finding, k.clock.Monotonic())
	if !due {
		return
	}
	fields := append([]any{"cause", explained}, logs.Fields(lasted)...)
	fields = append(fields, hint.Fields(hint.Of(explained))...)
	// If there is a grant, IDs continue from it for so long.
	if left := k.left(k.last.Until); left > 0 {
		k.log.Warn(finding, append(fields, "ids_last", left)...)
	} else {
		k.log.Warn(finding+"; calls go to PostgreSQL", fields...)
	}
}

// left returns how long it is from the clock to a tick, for people.
func (k *Keeper) left(until int64) time.Duration {
	return k.clock.duration(max(0, until-max(0, k.clock.Now()))).Round(time.Millisecond)
}

// findingOf names the kind of a failure. Two failures of one kind are one finding, even if their details differ.
func findingOf(err error) string {
	var refusal *Refusal
	var lost *Lost
	switch {
	case errors.As(err, &refusal):
		return map[Reason]string{
			GateClosed: "no worker is granted yet", NoWorker: "no worker is free",
			Copy:     "no worker is granted in a copy or a restored database",
			Starting: "no worker is granted yet, the server has just started",
			Closed:   "the database is closed for good",
		}[refusal.Reason]
	case errors.As(err, &lost):
		return "the worker is lost"
	default:
		return "the database does not acknowledge"
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
			"hint", fmt.Sprintf("If that clock is right now, restart this proxy, which then takes another worker, "+
				"and run \"pgflurry workers retire %d\".", worker))
	}
}

func (k *Keeper) logLost(l *Lost) {
	if l.CommitLost() {
		k.record.forgot(k.clock.Monotonic())
		k.log.Error("the database has lost a commit it had acknowledged; "+
			"was it failed over to an asynchronous standby, or restored?",
			"worker", l.Worker, "acknowledged", l.Acknowledged, "mark", l.Mark)
	}
}

// logEnd logs once that the grant has ended without a new one.
func (k *Keeper) logEnd() {
	if k.ended || k.cause == "" || k.last.Until == 0 || k.clock.Now() < k.last.Until {
		return
	}
	k.ended = true
	k.log.Error("the grant has ended: calls go to PostgreSQL until it grants again", "cause", k.cause)
}
