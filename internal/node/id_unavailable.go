package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"pgflurry/generator"
	"pgflurry/internal/fault"
	"pgflurry/internal/report"
	"pgflurry/internal/segment"
	"pgflurry/internal/watch"
)

// The errors that a client of the ID database gets when there is no ID, or no number. Anybody who can log in may see
// them: so they contain no address, no role and no text of a library.

// SQLSTATEs of these errors.
const (
	notNow       = "57P03" // cannot_connect_now: waiting helps, and so may another proxy
	notHere      = "0A000" // feature_not_supported
	outsideYears = "SNF02" // as in next_snowflake()
)

const tryAgain = "Try again in a moment, or connect to another proxy."

// unavailable translates an error of IDs or of numbers for a client.
func (u *supply) unavailable(err error) fault.Error {
	var of *tagError
	if errors.As(err, &of) {
		return whyNoNumber(of)
	}
	return whyNoID(err, u.state())
}

// whyNoID says why there is no ID.
func whyNoID(err error, s report.State) fault.Error {
	l := s.Lease
	switch {
	case errors.Is(err, generator.ErrSealed):
		return fault.New(notNow, "no ID can be given: the proxy is shutting down", fault.ConnectElsewhere)
	case errors.Is(err, generator.ErrEndOfTime):
		return fault.Errorf(outsideYears, "Only a namespace with another layout helps.",
			"no ID can be given: the timestamps of the layout have ended at %s", past(s.Namespace.End))
	case errors.Is(err, context.DeadlineExceeded):
		return fault.Errorf(notNow, "Ask for fewer IDs at once, or spread the clients over more proxies.",
			"no ID came in time: worker %d has given all that its ticks hold", l.Worker)
	}
	why, hint := whyNoWorker(s)
	message := "no ID can be given: " + why
	if l.Granted && l.Reserve <= 0 && errors.Is(err, generator.ErrGrantEnded) {
		at := " at " + past(l.Until)
		if l.Until.After(s.At) { // this machine's clock is behind the database's
			at = ""
		}
		message = fmt.Sprintf("no ID can be given: the lease of worker %d has ended%s; %s", l.Worker, at, why)
	}
	return fault.New(notNow, message, hint)
}

// whyNoWorker says why there is no worker or no renewal, for how long, and what to do.
func whyNoWorker(s report.State) (why, hint string) {
	l := s.Lease
	row := fault.Of(l.Reason)
	switch l.Reason {
	case fault.Gate, fault.Starting:
		return fault.Until(row.Client, untilThen(l.Opens, s.At)), tryThen(l.Opens)
	case fault.NoneFree:
		if l.Opens.After(s.At) {
			return fmt.Sprintf("%s; the next one is at %s, in %v, if its holder is gone", row.Client, moment(l.Opens),
				l.Opens.Sub(s.At).Round(time.Second)), tryThen(l.Opens)
		}
	case fault.Unanswered:
		if !l.Renewed.IsZero() {
			why = fmt.Sprintf("the lease database has not acknowledged since %s, for %v", past(l.Renewed),
				s.At.Sub(l.Renewed).Round(time.Second))
			return why, "IDs come again seconds after it does, or it says then until when they do not. " + tryAgain
		}
	}
	if row.Client != "" {
		return row.Client, cmp.Or(row.ClientHint, tryAgain)
	}
	switch {
	case l.Reserve > 0: // since the draw
		return "a lease has come just now", tryAgain
	case l.Granted:
		return "it is to be renewed", tryAgain
	}
	return "no worker is granted yet", tryAgain
}

// untilThen words a time in the future, and how long it is until then; empty: not known.
func untilThen(then, now time.Time) string {
	if !then.After(now) {
		return ""
	}
	return fmt.Sprintf(" before %s, in %v", moment(then), then.Sub(now).Round(time.Second))
}

// tryThen is the hint to try again at that time.
func tryThen(then time.Time) string {
	if then.IsZero() {
		return tryAgain
	}
	return "Try again then, or connect to another proxy."
}

// past is a time for clients that has passed: rounded down, because what is still to come has not ended.
func past(t time.Time) string { return t.UTC().Truncate(time.Second).Format(time.RFC3339) }

// moment is a time to come, for clients: rounded up, so that nobody tries too early.
func moment(t time.Time) string {
	if up := t.Truncate(time.Second); up.Before(t) {
		t = up.Add(time.Second)
	}
	return t.UTC().Format(time.RFC3339)
}

// longestTag is the longest tag in characters, as its column has it.
const longestTag = 128

// whyNoNumber says why there is no number of a tag. Where the function in the database has the same error, the words
// are the same.
func whyNoNumber(of *tagError) fault.Error {
	tag := "'" + strings.ReplaceAll(of.tag, "'", "''") + "'"
	database := fmt.Sprintf("database %q", of.database)
	length := utf8.RuneCountInString(of.tag)
	switch {
	case length < 1 || length > longestTag:
		return fault.Errorf("22023", "The tags are in pgflurry.segment.biz_tag.",
			"next_segment: the tag has %d characters, not 1 to %d", length, longestTag)
	case errors.Is(of, segment.ErrUnknownTag):
		return fault.New("42704", "next_segment: there is no tag "+tag,
			fmt.Sprintf("Who owns schema pgflurry of %s adds it: "+
				"INSERT INTO pgflurry.segment (biz_tag) VALUES (%s);", database, tag))
	case errors.Is(of, segment.ErrExhausted):
		return fault.Errorf("2200H", "There is no larger number. Use another tag.",
			"next_segment: tag %s has come to the end of bigint", tag)
	case errors.Is(of, segment.ErrTooManyTags):
		return fault.Errorf("53400",
			"Call pgflurry.next_segment() in PostgreSQL itself, or use fewer tags at one proxy.",
			"no number of tag %s can be given: too many tags are in use", tag)
	case errors.Is(of, errNoneChosen):
		return fault.New(notHere,
			"no number can be given: the proxy has several databases, and was not told whose tags are meant",
			"Whoever runs the proxy has to name the database: --id-segments NAME.")
	case errors.Is(of, watch.ErrNotAllowed):
		return fault.New(notHere, "no number can be given: "+database+" does not permit it now",
			"The status page and the log of the proxy say why. Call pgflurry.next_segment() in PostgreSQL itself.")
	case errors.Is(of, segment.ErrEnded), errors.Is(of, watch.ErrNotListed):
		return fault.New(notNow, "no number can be given: the proxy gives none of "+database+" any more", tryAgain)
	case errors.Is(of, segment.ErrElsewhere):
		return fault.New(notNow, "no number can be given: no look has found the tags of "+database+" again yet",
			tryAgain)
	case errors.Is(of, watch.ErrNotJudged):
		return fault.New(notNow, "no number can be given: "+database+" was not looked at yet", tryAgain)
	}
	return fault.Errorf(notNow, "The proxy tries again within seconds. "+tryAgain,
		"no number of tag %s is left, and %s has not given a block of them in time", tag, database)
}
