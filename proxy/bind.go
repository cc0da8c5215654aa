package proxy

import (
	"bytes"
	"encoding/binary"
	"strconv"

	"pgflurry/proxy/statement"
)

// Type OIDs (pg_type.dat): of columns, of a row count (the integers), of a tag (text and varchar).
const (
	oidInt8    = 20
	oidInt2    = 21
	oidInt4    = 23
	oidText    = 25
	oidVarchar = 1043
)

// bindValues is what a Bind gives a form.
type bindValues struct {
	rows    int
	tag     []byte   // in the message; nil if the form has it not as a parameter
	formats []uint16 // of the result, behind those that were there
}

// readBind reads a Bind after its two names: parameter formats, parameters, result formats. countType is the type of
// the count if it is a parameter. The result formats are appended to formats. ok is false where anything is not as the
// form needs it, so that PostgreSQL judges it.
func readBind(b []byte, f *statement.Form, countType uint32, formats []uint16) (x bindValues, ok bool) {
	x = bindValues{rows: f.Rows}
	var few [2]uint16
	paramFormats, b, ok := cutFormats(b, few[:0])
	if !ok || len(b) < 2 {
		return x, false
	}
	params := int(binary.BigEndian.Uint16(b))
	b = b[2:]
	if params != f.Params() || (len(paramFormats) > 1 && len(paramFormats) != params) {
		return x, false
	}
	if f.Tag != nil && f.Tag.Param {
		if x.tag, b, ok = cutParam(b); !ok || !isTag(x.tag) { // the same bytes in text and binary
			return x, false
		}
	}
	if f.CountParam {
		var value []byte
		if value, b, ok = cutParam(b); !ok {
			return x, false
		}
		n, valid := readCount(value, countType, formatOf(paramFormats, params-1) == 1)
		if !valid || n < 1 || n > statement.MaxIDs/int64(len(f.Columns)) {
			return x, false
		}
		x.rows = int(n)
	}
	before := len(formats)
	x.formats, b, ok = cutFormats(b, formats)
	given := len(x.formats) - before
	return x, ok && len(b) == 0 && (given <= 1 || given == len(f.Columns))
}

// cutParam takes a parameter off the front; false for NULL, whose size is -1.
func cutParam(b []byte) (value, rest []byte, ok bool) {
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

// isTag refuses what no tag is, and what depends on the client's encoding.
func isTag(value []byte) bool {
	for _, c := range value {
		if !statement.IsPlain(c) {
			return false
		}
	}
	return len(value) > 0 && len(value) <= statement.MaxTagBytes
}

// cutFormats reads a list of format codes, each 0 (text) or 1 (binary).
func cutFormats(b []byte, into []uint16) (codes []uint16, rest []byte, ok bool) {
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

// formatOf is the format code of column i: none given is text, one is for all.
func formatOf(formats []uint16, i int) uint16 {
	switch len(formats) {
	case 0:
		return 0
	case 1:
		return formats[0]
	}
	return formats[i]
}

// readCount reads a row count of one of the integer types. Text is digits alone: what else PostgreSQL may read as a
// number is its own to read.
func readCount(value []byte, oid uint32, binaryFormat bool) (int64, bool) {
	switch {
	case !binaryFormat && (oid == oidInt2 || oid == oidInt4 || oid == oidInt8):
		if len(value) == 0 || len(value) > 5 ||
			bytes.ContainsFunc(value, func(r rune) bool { return r < '0' || r > '9' }) {
			return 0, false
		}
		n, err := strconv.ParseInt(string(value), 10, 64)
		return n, err == nil
	case oid == oidInt2 && len(value) == 2:
		return int64(int16(binary.BigEndian.Uint16(value))), true
	case oid == oidInt4 && len(value) == 4:
		return int64(int32(binary.BigEndian.Uint32(value))), true
	case oid == oidInt8 && len(value) == 8:
		return int64(binary.BigEndian.Uint64(value)), true
	}
	return 0, false
}
