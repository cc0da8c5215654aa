package doctor

import (
	"fmt"
	"strconv"
	"time"
)

// An Event is what has happened to a server between two looks.
type Event string

// The events. Crash includes the failover to a server that starts as after a crash.
const (
	Nothing Event = "no restart"
	Clean   Event = "a clean restart"
	Crash   Event = "a crash or a failover"
	Restart Event = "a restart; whether clean or not does not show"
	Another Event = "another server"
)

// happened derives the event from what both looks saw. A crash discards the statistics, and a clean shutdown keeps
// them. A reset of the statistics looks the same as a crash.
func happened(before, now Facts) Event {
	same := before.Started.Equal(now.Started)
	a, b := before.Statistics.Value, now.Statistics.Value
	switch {
	case before.System.Value != "" && now.System.Value != "" && before.System.Value != now.System.Value:
		return Another
	case before.Timeline.Value != "" && now.Timeline.Value != "" && before.Timeline.Value != now.Timeline.Value:
		return Crash
	case a == "" || b == "":
		if same {
			return Nothing
		}
		return Restart
	case a == b && same:
		return Nothing
	case a == b:
		return Clean
	}
	return Crash
}

// Restarted reports whether the server is another one now, or has been restarted. Then the marker has done its work.
func Restarted(b Before, now Facts) bool { return happened(b.Facts, now) != Nothing }

// Marked says whether the marker could be made.
func Marked(b Before) Check {
	if b.Marker == 0 {
		return Check{
			"marker", "could not be made: " + b.Why, Warning,
			"Without it --after cannot tell what a crash does. Use a role that may create in schema public.",
		}
	}
	return Check{
		"marker", "public.pgflurry_doctor, an unlogged sequence", OK,
		"Restart, crash or fail over the server, or let it sleep. Then run --after.",
	}
}

// Compare says what has happened since the look of --before, and what became of the marker.
func Compare(b Before, now Facts, marker Found) []Check {
	event := happened(b.Facts, now)
	return []Check{what(b.Facts, now, event), kept(event, marker), timelines(b.Facts, now, event), clocks(b.Facts, now)}
}

func what(before, now Facts, event Event) Check {
	since := now.Started.UTC().Format(time.RFC3339)
	c := Check{"what happened", fmt.Sprintf("%s; the server runs since %s", event, since), OK, ""}
	if before.Address != now.Address {
		c.Found += fmt.Sprintf(", at %s instead of %s", orNone(now.Address), orNone(before.Address))
	}
	switch event {
	case Nothing:
		c.Verdict, c.Advice = Unknown, "Restart, crash or fail over the server, then run --after again."
	case Another:
		c.Verdict = Warning
		c.Advice = "The system identifier changed: a restore into a new server, or an upgrade. Then run migrate status."
	}
	return c
}

func kept(event Event, marker Found) Check {
	const name = "unlogged sequences after"
	switch {
	case marker.Gone:
		return Check{
			name, "the marker is gone, though its commit was acknowledged", Fails,
			"The server lost a write (A1), or this is another database. Do not let it fail over like that.",
		}
	case marker.Why != "":
		return Check{name, marker.Why, Unknown, ""}
	case marker.StartedOver && event == Clean:
		return Check{name, "started over, though the restart was clean", OK, ""}
	case marker.StartedOver:
		return Check{name, "started over", OK, ""}
	case event == Nothing:
		return Check{name, "kept, without a restart", Unknown, ""}
	case event == Clean:
		return Check{
			name, "kept through a clean restart, as in PostgreSQL", OK,
			"What a crash does is still not known: try a failover.",
		}
	case event == Crash:
		return Check{
			name, "kept through a crash", Warning,
			"IDs stay unique. After a restart, draws wait until the clock is 1 s (at most 3 s) beyond the start.",
		}
	}
	return Check{name, "kept", Unknown, "If the restart was a crash, this server keeps unlogged sequences."}
}

func timelines(before, now Facts, event Event) Check {
	const name = "WAL timeline after"
	a, errA := strconv.ParseUint(before.Timeline.Value, 16, 32)
	b, errB := strconv.ParseUint(now.Timeline.Value, 16, 32)
	switch {
	case errA != nil || errB != nil:
		return Check{name, "not shown", Unknown, ""}
	case b < a:
		return Check{
			name, fmt.Sprintf("fell from %d to %d", a, b), Fails,
			"The server was set back: run what docs/copies.md says.",
		}
	case b > a:
		return Check{name, fmt.Sprintf("rose from %d to %d", a, b), OK, ""}
	case event == Another:
		return Check{name, fmt.Sprintf("still %d", a), Unknown, ""}
	}
	return Check{name, fmt.Sprintf("still %d", a), OK, ""}
}

// clocks compares the two servers' clocks by this machine's, which has to be the same one.
func clocks(before, now Facts) Check {
	a, b := before.Clock.Sub(before.Here), now.Clock.Sub(now.Here)
	found := fmt.Sprintf("%+.3f s from this machine's, %+.3f s before", b.Seconds(), a.Seconds())
	c := Check{"clock after", found, OK, ""}
	if a-b > skew+before.RoundTrip+now.RoundTrip {
		c.Verdict = Warning
		c.Advice = "The clock was set back, or the new server's is behind. IDs that no row has may repeat."
	}
	return c
}

func orNone(address string) string {
	if address == "" {
		return "a socket"
	}
	return address
}
