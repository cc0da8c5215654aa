package node

import (
	"context"
	"log/slog"
	"time"

	"pgflurry/hint"
	"pgflurry/logs"
)

// idFindings word the result of a look at a database for IDs. Whether there are IDs at all is up to the keeper.
var idFindings = map[level]string{
	answerNothing:   "calls are relayed to PostgreSQL, none is answered from memory",
	answerQualified: "only calls of public.next_snowflake() are answered from memory, while a worker is held",
	answerAll:       "calls are answered from memory while a worker is held",
}

// segmentFindings word the result of a look at a database for segments.
var segmentFindings = map[level]string{
	answerNothing:   "next_segment() is relayed to PostgreSQL",
	answerQualified: "pgflurry.next_segment() is answered from memory",
	answerAll:       "next_segment() is answered from memory",
}

// The subjects of findings.
const (
	aboutIDs       = "IDs"
	aboutSegments  = "segments"
	aboutHidden    = "a database that the ID database hides"
	aboutSequences = "sequences that cannot be read"
	aboutGuards    = "guards that do not hold"
)

// A finding is something to log about a database.
type finding struct {
	about           string     // the subject: a finding is logged if it differs from the subject's last one
	what, why, hint string     // why and hint may be empty
	kind            string     // a finding of the same kind is not logged again; empty: what and why
	fault           slog.Level // level of a finding that has a why
}

// report logs a new finding, and repeats a fault that lasts from time to time.
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
		fields = append(append(fields, logs.Fields(lasted)...), hint.Fields(f.hint)...)
		d.log.Log(context.Background(), level, f.what, fields...)
	}
}

// reportGuards tells of triggers that do not guard pgflurry's tables in every session; empty: all do. IDs go on: the
// guards are against other hands.
func (d *databaseWatch) reportGuards(weak string) {
	if weak == "" {
		d.lastLogged[aboutGuards].Right("")
		return
	}
	d.report(finding{
		about: aboutGuards, what: "guards of pgflurry's tables are missing, or do not hold in every session", why: weak,
		hint:  `A restore with --disable-triggers leaves them so. Run "pgflurry migrate up --database URL".`,
		fault: slog.LevelError,
	})
}
