package migrations

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/internal/session"
)

// A rest is one worker, or the function, that may have issued IDs ahead of the clock, or did until just now.
type rest struct {
	worker *int // nil: the function of this database
	node   string
	left   time.Duration // rounded up to a second
}

// nothingAhead refuses while an ID of the namespace could be ahead of the database's clock, or a worker's rest is not
// over.
func nothingAhead(ctx context.Context, conn *pgx.Conn) (*RestError, error) {
	rests, err := session.List(ctx, conn, "reading the marks", sql.Rests, func(row pgx.CollectableRow) (r rest,
		err error,
	) {
		var ms int64
		err = row.Scan(&r.worker, &r.node, &ms)
		r.left = (time.Duration(ms)*time.Millisecond + time.Second - 1).Truncate(time.Second)
		return r, err
	})
	if err != nil || len(rests) == 0 {
		return nil, err
	}
	return &RestError{Left: rests[0].left, Lines: summary(rests)}, nil
}

// A RestError means that IDs may exist that are, or just were, ahead of the database's clock.
type RestError struct {
	Left  time.Duration // until that is over, if no more IDs are drawn
	Lines []string      // whose they are, and for how long
}

func (e *RestError) Error() string {
	return fmt.Sprintf("try again in %s: until then IDs may exist that are, or just were, ahead of the clock of the "+
		"database:\n  %s", e.Left, strings.Join(e.Lines, "\n  "))
}

// Hint says how to end it.
func (e *RestError) Hint() string {
	return "Stop all proxies of the namespace and whatever calls next_snowflake() first, or it will take longer. " +
		"--wait waits for it."
}

// mostLines is how many lines a message lists before it only counts.
const mostLines = 8

// summary returns one line for all rests with the same time left, which after a reseed are nearly all. list has the
// longest first.
func summary(list []rest) []string {
	var lines []string
	for len(list) > 0 {
		if len(lines) == mostLines {
			return append(lines, fmt.Sprintf("and %d more, for less", len(list)))
		}
		same := 1
		for same < len(list) && list[same].left == list[0].left && list[same].worker != nil && list[0].worker != nil {
			same++
		}
		lines = append(lines, fmt.Sprintf("%s: %s", spellRests(list[:same]), list[0].left))
		list = list[same:]
	}
	return lines
}

func spellRests(same []rest) string {
	first := same[0]
	switch {
	case first.worker == nil:
		return "next_snowflake() of this database"
	case len(same) > 1:
		low, high := *first.worker, *first.worker
		for _, r := range same {
			low, high = min(low, *r.worker), max(high, *r.worker)
		}
		return fmt.Sprintf("%d workers from %d to %d", len(same), low, high)
	case first.node == "":
		return fmt.Sprintf("worker %d", *first.worker)
	}
	return fmt.Sprintf("worker %d (%s)", *first.worker, first.node)
}
