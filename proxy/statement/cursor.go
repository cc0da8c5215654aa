package statement

// cursor is a text and how far it is read. It passes what stands between tokens, for both readers of tokens.
type cursor struct {
	sql []byte
	at  int
	any bool // comments may hold any byte
}

// peek is the byte n after the present one, 0 at the end.
func (t *cursor) peek(n int) byte {
	if t.at+n < len(t.sql) {
		return t.sql[t.at+n]
	}
	return 0
}

// skipSpace passes white space and comments; false: a comment without end, or one with a byte that is refused. Vertical
// tab is no space here, because it became one only in PostgreSQL 16.
func (t *cursor) skipSpace() bool {
	for t.at < len(t.sql) {
		switch c := t.sql[t.at]; {
		case c == ' ', c == '\t', c == '\n', c == '\r', c == '\f':
			t.at++
		case c == '-' && t.peek(1) == '-':
			if !t.lineComment() {
				return false
			}
		case c == '/' && t.peek(1) == '*':
			if !t.blockComment() {
				return false
			}
		default:
			return true
		}
	}
	return true
}

// lineComment passes a comment up to, not including, the end of its line: \n or \r.
func (t *cursor) lineComment() bool {
	for ; t.at < len(t.sql); t.at++ {
		switch c := t.sql[t.at]; {
		case c == '\n', c == '\r':
			return true
		case !t.any && !IsPlain(c):
			return false
		}
	}
	return true
}

// blockComment passes a comment; PostgreSQL's nest.
func (t *cursor) blockComment() bool {
	depth := 0
	for t.at < len(t.sql) {
		switch c := t.sql[t.at]; {
		case c == '/' && t.peek(1) == '*':
			depth++
			t.at += 2
		case c == '*' && t.peek(1) == '/':
			depth--
			t.at += 2
			if depth == 0 {
				return true
			}
		case !t.any && !IsPlain(c):
			return false
		default:
			t.at++
		}
	}
	return false
}
