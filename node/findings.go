package node

import (
	"context"
	"log/slog"
	"time"

	"pgflurry/hint"
	"pgflurry/proxy"
	"pgflurry/reminder"
)

// idFindings are what a look at a database comes to for IDs. Whether there are any is the keeper's affair.
var idFindings = map[proxy.Level]string{
	proxy.AnswerNothing:   "calls are relayed to PostgreSQL, none is answered from memory",
	proxy.AnswerQualified: "only calls of public.next_snowflake() are answered from memory, while a worker is held",
	proxy.AnswerAll:       "calls are answered from memory while a worker is held",
}

// segmentFindings are what a look at a database comes to for segments.
var segmentFindings = map[proxy.Level]string{
	proxy.AnswerNothing:   "next_segment() is relayed to PostgreSQL",
	proxy.AnswerQualified: "pgflurry.next_segment() is answered from memory",
	proxy.AnswerAll:       "next_segment() is answered from memory",
}

// The subjects of findings.
const (
	aboutIDs       = "IDs"
	aboutSegments  = "segments"
	aboutHidden    = "a database that the ID database hides"
	aboutSequences = "sequences that cannot be read"
)

// A finding is what there is to log about a database.
type finding struct {
	about           string     // the subject: of each, the log has the last finding
	what, why, hint string     // why and hint may be empty
	kind            string     // findings of one kind are logged once; empty: what and why
	fault           slog.Level // of a finding with a why
}

// report logs a finding that is new, and reminds of what stays wrong.
func (d *databaseWatch) report(f finding) {
	level, fields := slog.LevelInfo, []any{"database", d.name}
	if f.why != "" {
		level, fields = f.fault, append(fields, "cause", f.why)
	}
	if f.kind == "" {
		f.kind = f.what + f.why
	}
	due, lasted := false, time.Duration(0)
	if last := d.lastLogged[f.about]; level >= slog.LevelWarn {
		due, lasted = last.Wrong(f.kind, d.clock.monotonic())
	} else {
		due = last.Right(f.kind)
	}
	if due {
		fields = append(append(fields, reminder.Fields(lasted)...), hint.Fields(f.hint)...)
		d.log.Log(context.Background(), level, f.what, fields...)
	}
}
