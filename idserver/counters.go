package idserver

import (
	"sync/atomic"

	"pgflurry/proxy/statement"
)

// kind is a group of answered forms, as the proxy counts them.
type kind uint8

const (
	kindSnowflake  kind = iota // one row
	kindSnowflakes             // several rows, or as many as a parameter says
	kindSegment                // numbers of a tag
	kinds
)

var kindLabels = [kinds]string{"snowflake", "snowflakes", "segment"}

// refusal is a group of statements that were answered by an ERROR.
type refusal uint8

const (
	refusedWithoutIDs refusal = iota // 57P03: there is no grant, or no number of the tag
	refusedUnknown                   // 0A000: not an answered form
	refusedOther                     // all else: the client's syntax, a failed transaction, a limit
	refusals
)

var refusalLabels = [refusals]string{"no_ids", "not_supported", "other"}

// counts are a session's own, so that no processor waits for another one's cache line. Its goroutine is the only one
// to add.
type counts struct {
	answers      [kinds]atomic.Int64 // statements that gave IDs or numbers
	ids, numbers atomic.Int64        // in them
	refused      [refusals]atomic.Int64
}

// answered counts a statement that gives IDs or numbers, drew those.
func (c *counts) answered(f *statement.Form) { c.answers[kindOf(f)].Add(1) }

func (c *counts) drew(f *statement.Form, n int) {
	if f.Tag != nil {
		c.numbers.Add(int64(n))
	} else {
		c.ids.Add(int64(n))
	}
}

// refuse counts a statement that was answered by an ERROR.
func (c *counts) refuse(p problem) {
	switch p.sqlstate {
	case "57P03":
		c.refused[refusedWithoutIDs].Add(1)
	case "0A000":
		c.refused[refusedUnknown].Add(1)
	default:
		c.refused[refusedOther].Add(1)
	}
}
