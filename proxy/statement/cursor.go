package statement

// cursor is a text and the reading position in it. It skips what is between tokens, for the tokenizer and the Scanner.
type cursor struct {
	sql []byte
	at  int
	any bool // comments may contain any byte
}

// peek is the byte n after the present one; 0 at the end.
func (t *cursor) peek(n int) byte {
	if t.at+n < len(t.sql) {
		return t.sql[t.at+n]
	}
	return 0
}

// skipSpace skips white space and comments. It returns false at a comment without an end, or with a forbidden byte.
// Vertical tab is no space here, because PostgreSQL 15 does not treat it as one; 16 does.
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

// lineComment skips a comment up to the end of its line, \n or \r, which it leaves.
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

// blockComment skips a comment. As in PostgreSQL, comments nest.
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
