package proxy

import (
	"bytes"
	"encoding/binary"
	"strconv"

	"pgflurry/proxy/statement"
)

// A unit is what a driver sends to run one statement: [Parse ""] Bind [Describe portal ""] Execute, contiguous, portal "".
// Its messages are held in the read buffer until the Execute is read and all its IDs are reserved; then they are answered
// together. Anything else in between, and any doubt, forwards what is held as it came.
type unit struct {
	form      *statement.Form
	parseSize int      // bytes of the held Parse; 0: none in this unit
	bound     bool     // Bind was read
	described bool     // Describe was read
	rows      int      // rows that Execute will give
	formats   []uint16 // result formats as the Bind gave them: none, one, or one per column
	tag       []byte   // the tag that was bound, if the form has it as a parameter
}

func (u *unit) reset() { *u = unit{formats: u.formats[:0], tag: u.tag[:0]} }

// Type OIDs (pg_type.dat): of columns, of a row count (the integers), of a tag (text and varchar).
const (
	oidInt8    = 20
	oidInt2    = 21
	oidInt4    = 23
	oidText    = 25
	oidVarchar = 1043
)

// hold keeps the message at pos with the unit.
func (s *session) hold(size int) (bool, error) {
	s.fromClient.Hold(size)
	return true, nil
}

// holdParse begins a unit with a Parse of the unnamed statement. A named Parse is always forwarded: DEALLOCATE, EXECUTE and
// duplicate names stay PostgreSQL's business.
func (s *session) holdParse(body []byte, size int) (bool, error) {
	if s.unit.form != nil || !s.quiescent() {
		return false, nil
	}
	name, f := s.matchParse(body)
	if len(name) > 0 || f == nil || f.CountParam || !s.mayAnswer(f) {
		return false, nil
	}
	s.unit.form = f
	s.unit.parseSize = size
	return s.hold(size)
}

// holdBind takes a Bind of a statement whose text is known.
func (s *session) holdBind(body []byte, size int) (bool, error) {
	if s.unit.bound || !s.quiescent() {
		return false, nil
	}
	portal, rest := cutName(body)
	name, rest := cutName(rest)
	if len(portal) > 0 {
		return false, nil
	}
	f, countType := s.unit.form, uint32(0)
	switch {
	case f != nil:
		if len(name) > 0 {
			return false, nil
		}
	case len(name) == 0:
		f = s.ledger.stale.current.form
	default:
		if st := s.named[string(name)]; st != nil && st.live && st.epoch == s.ledger.epoch {
			f, countType = st.form, st.countType
		}
	}
	if f == nil || !s.mayAnswer(f) {
		return false, nil
	}
	b, ok := readBind(rest, f, countType, s.unit.formats[:0])
	if !ok {
		return false, nil
	}
	s.unit.form, s.unit.bound, s.unit.rows, s.unit.formats = f, true, b.rows, b.formats
	s.unit.tag = append(s.unit.tag[:0], b.tag...)
	return s.hold(size)
}

// holdDescribe takes the Describe of the unit's portal, or answers that of a portal that was answered before.
func (s *session) holdDescribe(body []byte, size int) (bool, error) {
	if !isUnnamedPortal(body) {
		return false, nil
	}
	if s.unit.bound && !s.unit.described {
		s.unit.described = true
		return s.hold(size)
	}
	return s.answerFinished('D', size)
}

func isUnnamedPortal(body []byte) bool {
	return len(body) == 2 && body[0] == 'P' && body[1] == 0
}

// binding is what a Bind gives a form.
type binding struct {
	rows    int
	tag     []byte // in the message; nil if the form has it not as a parameter
	formats []uint16
}

// readBind reads a Bind after its two names: parameter formats, parameters, result formats. countType is the type of the count
// if it is a parameter. ok is false where anything is not as the form needs it, so that PostgreSQL judges it.
func readBind(b []byte, f *statement.Form, countType uint32, into []uint16) (x binding, ok bool) {
	x = binding{rows: f.Rows, formats: into}
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
	x.formats, b, ok = cutFormats(b, into)
	if !ok || len(b) != 0 || (len(x.formats) > 1 && len(x.formats) != len(f.Columns)) {
		return x, false
	}
	return x, true
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

// readCount reads a row count of one of the integer types. Text is digits alone: what else PostgreSQL may read as a number
// is its own to read.
func readCount(value []byte, oid uint32, binaryFormat bool) (int64, bool) {
	switch {
	case !binaryFormat && (oid == oidInt2 || oid == oidInt4 || oid == oidInt8):
		if len(value) == 0 || len(value) > 5 || bytes.ContainsFunc(value, func(r rune) bool { return r < '0' || r > '9' }) {
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
