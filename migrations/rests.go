package migrations

import (
	"context"
	_ "embed"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

//go:embed queries/rests.sql
var restsSQL string

// A rest is one worker, or the function, that may have issued IDs that are ahead of the clock, or did until just now.
type rest struct {
	worker *int // nil: the function of this database
	node   string
	left   time.Duration // rounded up to a second
}

// nothingAhead refuses while an ID of the namespace could be ahead of the database's clock,
// or a worker's rest is not over.
func (d *database) nothingAhead(ctx context.Context) error {
	rests, err := list(ctx, d, "reading the marks", restsSQL, func(row pgx.CollectableRow) (r rest, err error) {
		var ms int64
		err = row.Scan(&r.worker, &r.node, &ms)
		r.left = (time.Duration(ms)*time.Millisecond + time.Second - 1).Truncate(time.Second)
		return r, err
	})
	if err != nil || len(rests) == 0 {
		return err
	}
	return refuse("Stop all proxies of the namespace and whatever calls next_snowflake() first, "+
		"or it will take longer.",
		"try again in %s: until then IDs may exist that are, or just were, ahead of the clock of the database:\n  %s",
		rests[0].left, strings.Join(summary(rests), "\n  "))
}

// mostLines is how many lines a message lists before it only counts.
const mostLines = 8

// summary is one line for all that have the same time left, which after a reseed are nearly all.
// list has the longest first.
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
