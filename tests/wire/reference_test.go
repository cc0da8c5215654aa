package wire

import (
	"fmt"
	"slices"
	"strings"
)

// script is what PostgreSQL gets in place of the messages to a proxy. The messages are the same. After an answered
// batch the proxy promises less than PostgreSQL keeps. There the script also has a batch of the test's own, which makes
// PostgreSQL forget.
type script struct {
	bytes []byte
	own   []int // of each own batch, the ReadyForQuery before it, without those of other own batches
}

// forgetting returns the script for some messages if the proxy answered these batches. Batches are numbered by their
// ReadyForQuery. The numbers are right up to the last answered batch: the proxy never answers in a session in which it
// cannot count batches.
func forgetting(messages []message, answered []int) (s script) {
	open := false   // a batch waits for its Sync
	ours := false   // the proxy answered this batch
	portal := false // an answered batch had a portal
	parsed := false // and a statement
	batch := 0
	for _, m := range messages {
		if kind := m.bytes[0]; strings.IndexByte("dcf", kind) < 0 && (kind != 'H' || len(m.bytes) > 5) {
			if !open {
				ours = slices.Contains(answered, batch)
				if portal && !ours && (kind != 'S' || len(m.bytes) > 5) {
					if parsed && !m.usesUnnamed() {
						s.bytes = append(s.bytes, CloseStatement("").bytes...)
					}
					s.bytes = append(append(s.bytes, ClosePortal("").bytes...), Sync.bytes...)
					s.own = append(s.own, batch)
					portal, parsed = false, false
				}
			}
			open = strings.IndexByte("SQF", kind) < 0
			if !open {
				batch++
			}
			portal = portal || ours
			parsed = (parsed || ours && kind == 'P') && !(ours && kind == 'Q')
		}
		s.bytes = append(s.bytes, m.bytes...)
	}
	return s
}

// usesUnnamed says whether a message is a Bind or a Describe of the unnamed statement.
func (m message) usesUnnamed() bool {
	body := string(m.bytes[5:])
	switch m.bytes[0] {
	case 'B':
		_, rest, _ := strings.Cut(body, "\x00")
		return strings.HasPrefix(rest, "\x00")
	case 'D':
		return strings.HasPrefix(body, "S\x00")
	}
	return false
}

// strip removes the replies to the test's own batches. ready is the number of ReadyForQuery before the script's first
// message.
func (s script) strip(lines []string, ready int) ([]string, error) {
	own, kept := s.own, []string(nil)
	for _, line := range lines {
		inside := len(own) > 0 && ready == own[0]
		switch {
		case !inside:
			kept = append(kept, line)
			if isReady(line) {
				ready++
			}
		case isReady(line):
			own = own[1:]
		case strings.HasPrefix(line, "CloseComplete"):
		case comesUnasked(line):
			kept = append(kept, line)
		default:
			return nil, fmt.Errorf("PostgreSQL says to a batch of the test's own: %s", line)
		}
	}
	return kept, nil
}

func comesUnasked(line string) bool {
	unasked := []string{"NoticeResponse", "NotificationResponse", "ParameterStatus"}
	return slices.ContainsFunc(unasked, func(kind string) bool { return strings.HasPrefix(line, kind) })
}
