package segment

import (
	"context"
	"errors"
	"time"

	"pgflurry/internal/logs"
)

// logFailure logs a failed fetch: when the failure begins, when its reason changes, and each minute while it lasts.
func (s *Source) logFailure(ctx context.Context, b *buffer, err error, at time.Duration) {
	if ctx.Err() != nil {
		return
	}
	due, lasted := b.failing.Wrong(err.Error(), at)
	if !due {
		return
	}
	fields := append([]any{"tag", b.supply.tag, "left", b.supply.left()}, logs.Fields(lasted)...)
	if errors.Is(err, ErrExhausted) {
		s.log.Error("no block is left: the tag has come to the end of bigint", fields...)
		return
	}
	s.log.Warn("no block could be fetched", append(fields, "cause", err)...)
}

// logNotRefreshed logs a failed check of the tags in use. Checks are a minute apart, so it logs each failure.
func (s *Source) logNotRefreshed(failing *logs.Reminder, err error) {
	_, lasted := failing.Wrong("refresh", s.now())
	fields := append([]any{"cause", err}, logs.Fields(lasted)...)
	s.log.Warn("the tags in use could not be looked at: removed ones go on", fields...)
}

// logElsewhere logs that the numbers in memory do not belong to the rows any more. If now is empty, the next look finds
// the new origin.
func (s *Source) logElsewhere(before, now string, tags, skipped int64) {
	s.log.Warn("the tags are in another database or table than before: their numbers in memory are dropped",
		"before", before, "now", now, "tags", tags, "skipped", skipped)
}

// logWentBack logs that a row has fallen back. A correct database never does that.
func (s *Source) logWentBack(b *buffer, found, acknowledged, skipped int64) {
	s.log.Error("the row of the tag has fallen back: the database has lost a commit, "+
		"or the tag was made anew too soon; numbers below the acknowledged one may have been given twice",
		"tag", b.supply.tag, "max_id", found, "acknowledged", acknowledged, "skipped", skipped)
}
