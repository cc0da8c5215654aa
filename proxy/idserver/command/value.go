package command

import (
	"encoding/binary"
	"strconv"
	"strings"
	"time"

	"pgflurry/internal/fault"

	"pgflurry/proxy/internal/wire"
)

// Value is an SQL value: a constant, a parameter, or a column of a SELECT's row.
type Value struct {
	oid    uint32
	null   bool
	number int64  // of integers; 1 for true; of a timestamp: the microseconds since 2000
	text   string // of strings, and of literals of unknown type
}

// Type is the OID of the value's type.
func (v Value) Type() uint32 { return v.oid }

// String is the text of a value of a string type. It returns false for NULL and for other types.
func (v Value) String() (string, bool) { return v.text, !v.null && kindOf(v.oid) == kindString }

// Int is the number of a value of an integer type. It returns false for NULL and for other types.
func (v Value) Int() (int64, bool) { return v.number, !v.null && kindOf(v.oid) == kindInteger }

// Size is about the bytes of the value in a row.
func (v Value) Size() int { return 8 + len(v.text) }

// Null is NULL of a type.
func Null(oid uint32) Value { return Value{oid: oid, null: true} }

func boolValue(b bool) Value {
	if b {
		return Value{oid: Bool, number: 1}
	}
	return Value{oid: Bool}
}

// Append writes the value as in DataRow: its length, which is -1 for NULL, and its bytes. Format 0 is text, 1 is
// binary.
func (v Value) Append(b []byte, format uint16) []byte {
	if v.null {
		return append(b, 0xff, 0xff, 0xff, 0xff)
	}
	at := len(b)
	b = append(b, 0, 0, 0, 0)
	if format == 1 {
		b = v.appendBinary(b)
	} else {
		b = v.appendText(b)
	}
	binary.BigEndian.PutUint32(b[at:], uint32(len(b)-at-4))
	return b
}

func (v Value) appendText(b []byte) []byte {
	switch v.oid {
	case Bool:
		return append(b, "ft"[v.number])
	case Int2, Int4, Int8:
		return strconv.AppendInt(b, v.number, 10)
	case Timestamptz:
		return time.UnixMicro(v.number+year2000).UTC().AppendFormat(b, "2006-01-02 15:04:05.999999+00")
	}
	return append(b, v.text...) // nothing for void
}

func (v Value) appendBinary(b []byte) []byte {
	switch v.oid {
	case Bool:
		return append(b, byte(v.number))
	case Int2:
		return binary.BigEndian.AppendUint16(b, uint16(v.number))
	case Int4:
		return binary.BigEndian.AppendUint32(b, uint32(v.number))
	case Int8, Timestamptz:
		return binary.BigEndian.AppendUint64(b, uint64(v.number))
	}
	return append(b, v.text...)
}

// year2000 is where PostgreSQL's timestamps begin, in microseconds since 1970.
const year2000 = 946_684_800_000_000

// spaces are the characters that PostgreSQL's isspace() skips around a number.
const spaces = " \t\n\v\f\r"

// To gives a value of an unknown type that type. Other values keep theirs: they fit.
func (v Value) To(oid uint32) (Value, error) {
	switch {
	case v.oid != Unknown:
		return v, nil
	case v.null:
		return Null(oid), nil
	case oid == Bool:
		return parseBool(v.text)
	case kindOf(oid) == kindInteger:
		return parseInteger(v.text, oid)
	}
	return Value{oid: oid, text: v.text}, nil
}

// parseInteger reads a number as PostgreSQL 15 does.
func parseInteger(text string, oid uint32) (Value, error) {
	digits := strings.TrimPrefix(strings.Trim(text, spaces), "+")
	n, err := strconv.ParseInt(digits, 10, map[uint32]int{Int2: 16, Int4: 32, Int8: 64}[oid])
	if err == nil && digits[0] != '+' {
		return Value{oid: oid, number: n}, nil
	}
	if onlyDigits := strings.TrimPrefix(digits, "-"); onlyDigits != "" && strings.Trim(onlyDigits, "0123456789") == "" {
		return Value{}, fault.Errorf(codeNumberRange, "", `value "%s" is out of range for type %s`,
			quote(text), nameOf(oid))
	}
	return Value{}, invalidText(text, oid)
}

func invalidText(text string, oid uint32) fault.Error {
	return fault.Errorf(codeText, "", `invalid input syntax for type %s: "%s"`, nameOf(oid), quote(text))
}

// parseBool reads a boolean, with white space around it.
func parseBool(text string) (Value, error) {
	truth, ok := wire.ParseBool(strings.Trim(text, spaces))
	if !ok {
		return Value{}, invalidText(text, Bool)
	}
	return boolValue(truth), nil
}
