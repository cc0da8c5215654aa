package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"pgflurry/fault"
	"pgflurry/generator"
	"pgflurry/idserver"
	"pgflurry/report"
	"pgflurry/segment"
	"pgflurry/watch"
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
func (u *supply) unavailable(err error) idserver.Reason {
	var of *tagError
	if errors.As(err, &of) {
		return whyNoNumber(of)
	}
	return whyNoID(err, u.state())
}

// whyNoID says why there is no ID.
func whyNoID(err error, s report.State) idserver.Reason {
	l := s.Lease
	switch {
	case errors.Is(err, generator.ErrSealed):
		return idserver.Reason{
			SQLState: notNow, Message: "no ID can be given: the proxy is shutting down",
			Hint: "Connect again; another proxy can serve this connection.",
		}
	case errors.Is(err, generator.ErrEndOfTime):
		return idserver.Reason{
			SQLState: outsideYears,
			Message: fmt.Sprintf("no ID can be given: the timestamps of the layout have ended at %s",
				past(s.Namespace.End)),
			Hint: "Only a namespace with another layout helps.",
		}
	case errors.Is(err, context.DeadlineExceeded):
		return idserver.Reason{
			SQLState: notNow,
			Message:  fmt.Sprintf("no ID came in time: worker %d has given all that its ticks hold", l.Worker),
			Hint:     "Ask for fewer IDs at once, or spread the clients over more proxies.",
		}
	}
	why, hint := whyNoWorker(s)
	message := "no ID can be given: " + why
	if l.Granted && l.Reserve <= 0 && errors.Is(err, generator.ErrGrantEnded) {
		at := " at " + past(l.Until)
		if l.Until.After(s.At) { // this machine's clock is behind the database's
			at = ""
		}
		message = fmt.Sprintf("no ID can be given: the grant of worker %d has ended%s; %s", l.Worker, at, why)
	}
	return idserver.Reason{SQLState: notNow, Message: message, Hint: hint}
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
			return fmt.Sprintf("the lease database has not acknowledged since %s, for %v", past(l.Renewed),
				s.At.Sub(l.Renewed).Round(time.Second)), "IDs come again as soon as it does. " + tryAgain
		}
	}
	if row.Client != "" {
		return row.Client, cmp.Or(row.ClientHint, tryAgain)
	}
	switch {
	case l.Reserve > 0: // since the draw
		return "a grant has come just now", tryAgain
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
func whyNoNumber(of *tagError) idserver.Reason {
	tag := "'" + strings.ReplaceAll(of.tag, "'", "''") + "'"
	database := fmt.Sprintf("database %q", of.database)
	length := utf8.RuneCountInString(of.tag)
	switch {
	case length < 1 || length > longestTag:
		return idserver.Reason{
			SQLState: "22023",
			Message:  fmt.Sprintf("next_segment: the tag has %d characters, not 1 to %d", length, longestTag),
			Hint:     "The tags are in pgflurry.segment.biz_tag.",
		}
	case errors.Is(of, segment.ErrUnknownTag):
		return idserver.Reason{
			SQLState: "42704", Message: "next_segment: there is no tag " + tag,
			Hint: fmt.Sprintf("Who owns schema pgflurry of %s adds it: "+
				"INSERT INTO pgflurry.segment (biz_tag) VALUES (%s);", database, tag),
		}
	case errors.Is(of, segment.ErrExhausted):
		return idserver.Reason{
			SQLState: "2200H", Message: fmt.Sprintf("next_segment: tag %s has come to the end of bigint", tag),
			Hint: "There is no larger number. Use another tag.",
		}
	case errors.Is(of, segment.ErrTooManyTags):
		return idserver.Reason{
			SQLState: "53400", Message: fmt.Sprintf("no number of tag %s can be given: too many tags are in use", tag),
			Hint: "Call pgflurry.next_segment() in PostgreSQL itself, or use fewer tags at one proxy.",
		}
	case errors.Is(of, errNoneChosen):
		return idserver.Reason{
			SQLState: notHere, Message: "no number can be given: the proxy has several databases, " +
				"and was not told whose tags are meant",
			Hint: "Whoever runs the proxy has to name the database: --id-segments NAME.",
		}
	case errors.Is(of, watch.ErrNotAllowed):
		return idserver.Reason{
			SQLState: notHere, Message: "no number can be given: " + database + " does not permit it now",
			Hint: "The status page and the log of the proxy say why. " +
				"Call pgflurry.next_segment() in PostgreSQL itself.",
		}
	case errors.Is(of, segment.ErrEnded), errors.Is(of, watch.ErrNotListed):
		return idserver.Reason{
			SQLState: notNow, Message: "no number can be given: the proxy gives none of " + database + " any more",
			Hint: tryAgain,
		}
	case errors.Is(of, segment.ErrElsewhere):
		return idserver.Reason{
			SQLState: notNow,
			Message:  "no number can be given: no look has found the tags of " + database + " again yet",
			Hint:     tryAgain,
		}
	case errors.Is(of, watch.ErrNotJudged):
		return idserver.Reason{
			SQLState: notNow, Message: "no number can be given: " + database + " was not looked at yet", Hint: tryAgain,
		}
	}
	return idserver.Reason{
		SQLState: notNow,
		Message: fmt.Sprintf("no number of tag %s is left, and %s has not given a block of them in time", tag,
			database),
		Hint: "The proxy tries again within seconds. " + tryAgain,
	}
}
