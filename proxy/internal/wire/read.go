package wire

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"strings"

	"pgflurry/proxy/statement"
)

// CutName splits off a name, which ends with a zero byte. In a truncated message the end of the name may be missing.
// Then everything counts as the name, and the name is never empty.
func CutName(b []byte) (name, rest []byte) {
	name, rest, found := bytes.Cut(b, []byte{0})
	if !found && len(name) == 0 {
		name = []byte{'?'}
	}
	return name, rest
}

// CutTarget reads the target of a Describe or Close: portal or statement, and its name.
func CutTarget(body []byte) (what byte, name []byte) {
	if len(body) == 0 {
		return 0, []byte{'?'}
	}
	name, _ = CutName(body[1:])
	return body[0], name
}

// CutParam splits off a parameter. It returns false for NULL, whose size is -1.
func CutParam(b []byte) (value, rest []byte, ok bool) {
	if len(b) < 4 {
		return nil, nil, false
	}
	size := binary.BigEndian.Uint32(b)
	b = b[4:]
	if uint64(size) > uint64(len(b)) {
		return nil, nil, false
	}
	return b[:size], b[size:], true
}

// IsTag says whether a value can be a tag. It refuses bytes whose meaning depends on the client's encoding.
func IsTag(value []byte) bool {
	for _, c := range value {
		if !statement.IsPlain(c) {
			return false
		}
	}
	return len(value) > 0 && len(value) <= statement.MaxTagBytes
}

// CutFormats reads a list of format codes, each 0 (text) or 1 (binary).
func CutFormats(b []byte, into []uint16) (codes []uint16, rest []byte, ok bool) {
	if len(b) < 2 {
		return into, nil, false
	}
	n := int(binary.BigEndian.Uint16(b))
	b = b[2:]
	if len(b) < 2*n {
		return into, nil, false
	}
	for i := range n {
		code := binary.BigEndian.Uint16(b[2*i:])
		if code > 1 {
			return into, nil, false
		}
		into = append(into, code)
	}
	return into, b[2*n:], true
}

// FormatOf is the format code of column i. No code means text; a single one is for all columns.
func FormatOf(formats []uint16, i int) uint16 {
	switch len(formats) {
	case 0:
		return 0
	case 1:
		return formats[0]
	}
	return formats[i]
}

// ReadCount reads a row count of one of the integer types. A text must be digits only. PostgreSQL reads more texts as a
// number, so they go there.
func ReadCount(value []byte, oid uint32, binaryFormat bool) (int64, bool) {
	switch {
	case !binaryFormat && (oid == OIDInt2 || oid == OIDInt4 || oid == OIDInt8):
		if len(value) == 0 || len(value) > 5 ||
			bytes.ContainsFunc(value, func(r rune) bool { return r < '0' || r > '9' }) {
			return 0, false
		}
		n, err := strconv.ParseInt(string(value), 10, 64)
		return n, err == nil
	case oid == OIDInt2 && len(value) == 2:
		return int64(int16(binary.BigEndian.Uint16(value))), true
	case oid == OIDInt4 && len(value) == 4:
		return int64(int32(binary.BigEndian.Uint32(value))), true
	case oid == OIDInt8 && len(value) == 8:
		return int64(binary.BigEndian.Uint64(value)), true
	}
	return 0, false
}

// ParseBool reads a boolean as PostgreSQL's parse_bool does: the unique beginning of a word such as true or off, or 0
// or 1.
func ParseBool(text string) (truth, ok bool) {
	word := strings.ToLower(text)
	begins := func(full string, least int) bool { return len(word) >= least && strings.HasPrefix(full, word) }
	switch {
	case begins("true", 1), begins("yes", 1), begins("on", 2), word == "1":
		return true, true
	case begins("false", 1), begins("no", 1), begins("off", 2), word == "0":
		return false, true
	}
	return false, false
}

// ErrorField finds one field of an ErrorResponse, https://www.postgresql.org/docs/current/protocol-error-fields.html.
func ErrorField(body []byte, name byte) []byte {
	for len(body) > 1 {
		field, rest, ok := bytes.Cut(body[1:], []byte{0})
		if !ok {
			return nil
		}
		if body[0] == name {
			return field
		}
		body = rest
	}
	return nil
}
