package statement

import "bytes"

// Deallocates reports whether a statement drops prepared statements, or may do so: DEALLOCATE and DISCARD do, DO and
// CALL may run any SQL. It looks at the first word alone, so of a long text the beginning is enough; one that the
// tokenizer cannot read is guilty. It allocates nothing, and may be called concurrently.
func Deallocates(sql []byte) bool {
	t := tokenizer{cursor: cursor{sql: sql}}
	switch t.next() {
	case KindBad:
		return true
	case KindWord:
		switch string(t.text()) {
		case "do", "call", "deallocate", "discard":
			return true
		}
	}
	return false
}

// MayDeallocate reports whether one of several statements in one text could drop prepared statements. It calls every
// text guilty that holds more than one statement, or may do so.
func MayDeallocate(sql []byte) bool {
	_, behind, _ := bytes.Cut(sql, []byte{';'})
	return len(bytes.TrimRight(behind, " \t\n\r\f")) > 0 || Deallocates(sql)
}
