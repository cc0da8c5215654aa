package watch

import (
	"context"
	"log/slog"
	"time"

	"pgflurry/internal/fault"
	"pgflurry/internal/logs"
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
	aboutServer    = "a server that is not known"
)

// A finding is something to log about a database.
type finding struct {
	about           string     // the subject: a finding is logged if it differs from the subject's last one
	what, why, hint string     // why and hint may be empty
	kind            string     // a finding of the same kind is not logged again; empty: what and why
	fault           slog.Level // level of a finding that has a why
}

// reminders log what is found about one database: what is new, and a fault that lasts from time to time.
type reminders struct {
	database string
	log      *slog.Logger
	now      func() time.Duration
	last     map[string]*logs.Reminder // by subject
}

func newReminders(database string, log *slog.Logger, now func() time.Duration, remind time.Duration) *reminders {
	f := &reminders{database: database, log: log, now: now, last: make(map[string]*logs.Reminder)}
	for _, about := range []string{aboutIDs, aboutSegments, aboutHidden, aboutSequences, aboutGuards, aboutServer} {
		f.last[about] = &logs.Reminder{Every: remind}
	}
	return f
}

// report logs a finding, unless it was logged not long ago.
func (l *reminders) report(f finding) {
	level, fields := slog.LevelInfo, []any{"database", l.database}
	if f.why != "" {
		level, fields = f.fault, append(fields, "cause", f.why)
	}
	if f.kind == "" {
		f.kind = f.what + f.why
	}
	due, lasted := false, time.Duration(0)
	if last := l.last[f.about]; level >= slog.LevelWarn {
		due, lasted = last.Wrong(f.kind, l.now())
	} else {
		due = last.Right(f.kind)
	}
	if due {
		fields = append(append(fields, logs.Fields(lasted)...), fault.HintField(f.hint)...)
		l.log.Log(context.Background(), level, f.what, fields...)
	}
}

// right records that nothing is wrong with a subject, and logs nothing.
func (l *reminders) right(about string) { l.last[about].Right("") }

// reportGuards tells of triggers that do not guard pgflurry's tables in every session; empty: all do. IDs go on: the
// guards are against other hands.
func (l *reminders) reportGuards(weak string) {
	if weak == "" {
		l.right(aboutGuards)
		return
	}
	l.report(finding{
		about: aboutGuards, what: "guards of pgflurry's tables are missing, or do not hold in every session", why: weak,
		hint:  `A restore with --disable-triggers leaves them so. Run "pgflurry migrate up --database URL".`,
		fault: slog.LevelError,
	})
}

// reportServer tells that the server of the database is not known, and why; empty: it is known.
func (l *reminders) reportServer(why string) {
	if why == "" {
		l.right(aboutServer)
		return
	}
	l.report(finding{
		about: aboutServer, what: fault.NewServer.Log, why: why, hint: fault.NewServer.Hint, fault: slog.LevelWarn,
	})
}
