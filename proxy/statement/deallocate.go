package statement

import "bytes"

// MayDeallocate reports whether a statement, or one of several in one text, could drop prepared statements: DEALLOCATE and DISCARD
// do, and DO and CALL may run any SQL. It looks at the first word alone, and so calls every text guilty that holds more than one
// statement, or may do so, and every one whose beginning the tokenizer cannot read. The text may be of any length. It allocates
// nothing, and may be called concurrently.
func MayDeallocate(sql []byte) bool {
	t := tokenizer{sql: sql}
	switch t.next() {
	case tokenBad:
		return true
	case tokenWord:
		switch string(t.text()) {
		case "do", "call", "deallocate", "discard":
			return true
		}
	}
	_, behind, _ := bytes.Cut(sql, []byte{';'})
	return len(bytes.TrimRight(behind, " \t\n\r\f")) > 0
}
