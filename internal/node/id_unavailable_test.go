package node

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgflurry/generator"
	"pgflurry/internal/draw"
	"pgflurry/internal/fault"
	"pgflurry/internal/report"
	"pgflurry/internal/segment"
	"pgflurry/internal/watch"
)

// No error may show these: a client must not learn anything about the installation.
const secretAddress = "db1.internal:5432"

func TestAClientWithoutAnIDIsToldWhySinceOrUntilWhenAndWhatToDo(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 14, 9, 26, 53, 400e6, time.UTC)
	ended := fmt.Errorf("%w: worker 17 may be used before tick 5", generator.ErrGrantEnded)
	away := report.Lease{
		Held: true, Granted: true, Worker: 17, Until: now.Add(-3 * time.Second), Renewed: now.Add(-63 * time.Second),
		Reason: fault.Unanswered, Cause: "failed to connect to " + secretAddress, Hint: "Ask " + secretAddress,
	}
	for _, c := range []struct {
		name  string
		err   error
		lease report.Lease
		state string
		says  string
		hint  string
	}{
		{
			"no namespace yet", draw.ErrNoSource,
			report.Lease{},
			"57P03",
			"no ID can be given: no worker is granted yet", "Try again in a moment, or connect to another proxy.",
		},
		{
			"nobody has migrated", draw.ErrNoSource,
			report.Lease{Reason: fault.NoNamespace},
			"57P03",
			"no ID can be given: the lease database has no namespace yet",
			`Whoever runs the proxy has to run "pgflurry migrate up" on the lease database`,
		},
		{
			"a copy", generator.ErrNoGrant,
			report.Lease{Reason: fault.Copy},
			"57P03",
			"no ID can be given: the lease database is a copy, or was restored", `"pgflurry migrate up"`,
		},
		{
			"the lease database is away from the start", generator.ErrNoGrant,
			report.Lease{Reason: fault.Unanswered, Cause: secretAddress},
			"57P03",
			"no ID can be given: the lease database has not answered yet", "Try again in a moment",
		},
		{
			"a closed gate", generator.ErrNoGrant,
			report.Lease{Reason: fault.Gate, Opens: now.Add(80*time.Second + time.Millisecond)},
			"57P03",
			"no ID can be given: no worker is granted before 2026-03-14T09:28:14Z, in 1m20s, since the lease " +
				"database was failed over, restored or reseeded", "Try again then, or connect to another proxy.",
		},
		{
			"no free worker", generator.ErrNoGrant,
			report.Lease{Reason: fault.NoneFree, Opens: now.Add(9 * time.Second)},
			"57P03", "no ID can be given: no worker is free; the next one is at 2026-03-14T09:27:03Z, in 9s, " +
				"if its holder is gone", "Try again then",
		},
		{
			"no worker ever again", generator.ErrNoGrant,
			report.Lease{Reason: fault.NoneFree},
			"57P03",
			"no ID can be given: no worker is free", "Whoever runs the proxy has to stop another one",
		},
		{
			"the grant ended, since the lease database is away", ended, away, "57P03",
			"no ID can be given: the lease of worker 17 has ended at 2026-03-14T09:26:50Z; " +
				"the lease database has not acknowledged since 2026-03-14T09:25:50Z, for 1m3s",
			"IDs come again seconds after it does, or it says then until when they do not. Try again",
		},
		{
			"the grant ended, and nothing is known to be wrong", ended,
			report.Lease{Held: true, Granted: true, Worker: 17, Until: now},
			"57P03",
			"the lease of worker 17 has ended at 2026-03-14T09:26:53Z; it is to be renewed", "Try again",
		},
		{
			"a grant came between the draw and its error", ended,
			report.Lease{Granted: true, Worker: 17, Until: now.Add(5 * time.Second), Reserve: 5 * time.Second},
			"57P03",
			"no ID can be given: a lease has come just now", "Try again",
		},
		{
			"the grant ended, and the wall clock here is behind", ended,
			report.Lease{Held: true, Granted: true, Worker: 17, Until: now.Add(time.Minute)},
			"57P03", "the lease of worker 17 has ended; it is to be renewed", "Try again",
		},
		{
			"the worker was lost", ended,
			report.Lease{Granted: true, Worker: 17, Until: now, Reason: fault.Lost},
			"57P03",
			"; the worker was lost, and another one is not granted yet", "Try again",
		},
		{
			"full ticks", fmt.Errorf("waiting: %w", context.DeadlineExceeded),
			report.Lease{Held: true, Granted: true, Worker: 17},
			"57P03",
			"no ID came in time: worker 17 has given all that its ticks hold", "Ask for fewer IDs at once",
		},
		{
			"the end of the process", generator.ErrSealed,
			report.Lease{Granted: true},
			"57P03",
			"no ID can be given: the proxy is shutting down", "Connect again",
		},
		{
			"the end of the layout", generator.ErrEndOfTime,
			report.Lease{Granted: true},
			"SNF02",
			"no ID can be given: the timestamps of the layout have ended at 2093-09-06T15:47:35Z",
			"Only a namespace with another layout helps.",
		},
	} {
		r := whyNoID(c.err, report.State{
			At: now, Lease: c.lease,
			Namespace: report.Namespace{ID: "x", End: time.Date(2093, 9, 6, 15, 47, 35, 1e6, time.UTC)},
		})
		if r.SQLState != c.state || !strings.Contains(r.Message, c.says) || !strings.Contains(r.Hint, c.hint) {
			t.Errorf("%s: %s %q, hint %q; expected %s %q, hint %q",
				c.name, r.SQLState, r.Message, r.Hint, c.state, c.says, c.hint)
		}
		if strings.Contains(r.Message+r.Hint, secretAddress) {
			t.Errorf("%s: %q, %q names an inner address", c.name, r.Message, r.Hint)
		}
	}
}

func TestAClientWithoutANumberIsToldAsByTheFunctionWhereThatFailsToo(t *testing.T) {
	t.Parallel()
	resting := fmt.Errorf("%w: %w", segment.ErrResting, errors.New("dial "+secretAddress))
	for _, c := range []struct {
		err               error
		tag               string
		state, says, hint string
	}{
		{
			segment.ErrUnknownTag, "it's", "42704", "next_segment: there is no tag 'it''s'",
			`of database "app" adds it: INSERT INTO pgflurry.segment (biz_tag) VALUES ('it''s');`,
		},
		{segment.ErrUnknownTag, "", "22023", "next_segment: the tag has 0 characters, not 1 to 128", "biz_tag"},
		{
			segment.ErrUnknownTag, strings.Repeat("ä", 129), "22023",
			"next_segment: the tag has 129 characters, not 1 to 128", "biz_tag",
		},
		{
			segment.ErrExhausted, "order", "2200H", "next_segment: tag 'order' has come to the end of bigint",
			"There is no larger number. Use another tag.",
		},
		{resting, "order", "57P03", `no number of tag 'order' is left, and database "app" has not given`, "Try again"},
		{context.DeadlineExceeded, "order", "57P03", "has not given a block of them in time", "Try again"},
		{segment.ErrTooManyTags, "order", "53400", "too many tags are in use", "use fewer tags"},
		{segment.ErrEnded, "order", "57P03", `the proxy gives none of database "app" any more`, "another proxy"},
		{watch.ErrNotListed, "order", "57P03", `the proxy gives none of database "app" any more`, "another proxy"},
		{watch.ErrNotJudged, "order", "57P03", `database "app" was not looked at yet`, "Try again"},
		{watch.ErrNotAllowed, "order", "0A000", `database "app" does not permit it now`, "say why"},
		{errNoneChosen, "order", "0A000", "the proxy has several databases", "--id-segments NAME"},
	} {
		r := whyNoNumber(&tagError{error: c.err, database: "app", tag: c.tag})
		if r.SQLState != c.state || !strings.Contains(r.Message, c.says) || !strings.Contains(r.Hint, c.hint) {
			t.Errorf("%v: %s %q, hint %q; expected %s %q, hint %q",
				c.err, r.SQLState, r.Message, r.Hint, c.state, c.says, c.hint)
		}
		if strings.Contains(r.Message+r.Hint, secretAddress) {
			t.Errorf("%v: %q, %q names an inner address", c.err, r.Message, r.Hint)
		}
	}
}
