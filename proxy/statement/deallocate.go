package statement

import "bytes"

// Deallocates reports whether a statement drops prepared statements, or may do so. DEALLOCATE and DISCARD do; DO and
// CALL may run any SQL. It reads only the first word, so the beginning of a long text is enough. Then whole is false,
// and it reports true if the end cuts that word off. It also does for a text that the tokenizer cannot read. It
// allocates nothing, and may be called concurrently.
func Deallocates(sql []byte, whole bool) bool {
	t := tokenizer{cursor: cursor{sql: sql}}
	kind := t.next()
	for kind == ';' { // an empty statement, which PostgreSQL does not count
		kind = t.next()
	}
	switch {
	case kind == KindBad, !whole && t.at == len(sql):
		return true
	case kind == KindWord:
		switch string(t.text()) {
		case "do", "call", "deallocate", "discard":
			return true
		}
	}
	return false
}

// MayDeallocate reports whether one of several statements in a text could drop prepared statements. It reports true for
// every text that has more than one statement, or may have.
func MayDeallocate(sql []byte) bool {
	_, behind, _ := bytes.Cut(sql, []byte{';'})
	return len(bytes.TrimRight(behind, " \t\n\r\f")) > 0 || Deallocates(sql, true)
}
