package idserver

import (
	"sync/atomic"

	"pgflurry/internal/fault"
	"pgflurry/proxy/internal/frontend"
)

// refusal is a group of statements that got an ERROR.
type refusal uint8

const (
	refusedWithoutIDs refusal = iota // 57P03: there is no grant, or no number of the tag
	refusedUnknown                   // 0A000: not an answered form
	refusedOther                     // everything else: the client's syntax, a failed transaction, a limit
	refusals
)

var refusalLabels = [refusals]string{"no_ids", "not_supported", "other"}

// counts are one session's counters, so that no processor waits for another's cache line. Only the session's goroutine
// adds to them.
type counts struct {
	frontend.Counts
	refused [refusals]atomic.Int64
}

// refuse counts a statement that got an ERROR.
func (c *counts) refuse(p fault.Error) {
	switch p.SQLState {
	case "57P03":
		c.refused[refusedWithoutIDs].Add(1)
	case "0A000":
		c.refused[refusedUnknown].Add(1)
	default:
		c.refused[refusedOther].Add(1)
	}
}

// result is the outcome of a login.
type result uint8

const (
	loginOK result = iota
	loginWrong
	loginAttempts
	loginLimit
	loginUnready
	loginRefused
	loginLeft
	results
)

var resultLabels = [results]string{"ok", "password", "attempts", "limit", "unready", "refused", "left"}
