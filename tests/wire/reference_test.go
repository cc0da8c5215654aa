package wire

import (
	"fmt"
	"slices"
	"strings"
)

// script is what is said to PostgreSQL in the place of the messages that a proxy got. It is the same. Where a proxy's
// client is promised less than PostgreSQL keeps, it has also a batch of the test's own that makes PostgreSQL forget it.
type script struct {
	bytes []byte
	own   []int // how many ReadyForQuery, the replies to the test's own batches left out, come before each of these
}

// forgetting is the script of some messages of which the proxy answered some batches, numbered among those that owe a
// ReadyForQuery. The numbers are right up to the last batch that was answered: a session in which batches cannot be
// counted is never answered.
func forgetting(messages []message, answered []int) (s script) {
	open := false   // a batch of which the Sync is to come
	ours := false   // it was answered
	portal := false // an answered batch left one
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

// usesUnnamed says that a message is a Bind or a Describe of the unnamed statement. The name of a portal counts as far
// as PostgreSQL looks at it.
func (m message) usesUnnamed() bool {
	body := string(m.bytes[5:])
	switch m.bytes[0] {
	case 'B':
		portal, rest, _ := strings.Cut(body, "\x00")
		return len(portal) <= 63 && strings.HasPrefix(rest, "\x00")
	case 'D':
		return strings.HasPrefix(body, "S\x00")
	}
	return false
}

// strip takes the replies to the test's own batches out of what PostgreSQL said to the script. ready counts the
// ReadyForQuery that came before its first message was said.
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
