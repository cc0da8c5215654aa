package proxy

import (
	"bytes"
	"encoding/binary"
	"strconv"
)

// A unit is what a driver sends to run one statement: [Parse ""] Bind [Describe portal ""] Execute, contiguous, portal "".
// Its messages are held in the read buffer until the Execute is read and all its IDs are reserved; then they are answered
// together. Anything else in between, and any doubt, forwards what is held as it came.
type unit struct {
	form      *form
	parseSize int      // bytes of the held Parse; 0: none in this unit
	bound     bool     // Bind was read
	described bool     // Describe was read
	rows      int      // rows that Execute will give
	formats   []uint16 // result formats as the Bind gave them: none, one, or one per column
}

func (u *unit) reset() { *u = unit{formats: u.formats[:0]} }

// Type OIDs (pg_type.dat) that a row count may have.
const (
	oidInt8 = 20
	oidInt2 = 21
	oidInt4 = 23
	oidText = 25
)

// hold keeps the message at pos with the unit.
func (s *session) hold(size int) (bool, error) {
	s.fromClient.pos += size
	return true, nil
}

// holdParse begins a unit with a Parse of the unnamed statement. A named Parse is always forwarded: DEALLOCATE, EXECUTE and
// duplicate names stay PostgreSQL's business.
func (s *session) holdParse(body []byte, size int) (bool, error) {
	if s.unit.form != nil || !s.quiescent() {
		return false, nil
	}
	name, f := s.matchParse(body)
	if len(name) > 0 || f == nil || f.param || !s.mayAnswer(f) {
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
	f, parameter := s.unit.form, uint32(0)
	switch {
	case f != nil:
		if len(name) > 0 {
			return false, nil
		}
	case len(name) == 0:
		f = s.ledger.stale.current.form
	default:
		if st := s.named[string(name)]; st != nil && st.live && st.epoch == s.ledger.epoch {
			f, parameter = st.form, st.parameter
		}
	}
	if f == nil || !s.mayAnswer(f) {
		return false, nil
	}
	rows, formats, ok := readBind(rest, f, parameter, s.unit.formats[:0])
	if !ok {
		return false, nil
	}
	s.unit.form, s.unit.bound, s.unit.rows, s.unit.formats = f, true, rows, formats
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

// readBind reads a Bind after its two names: parameter formats, parameters, result formats. ok is false where anything is
// not as the form needs it, so that PostgreSQL judges it.
func readBind(b []byte, f *form, parameter uint32, into []uint16) (rows int, formats []uint16, ok bool) {
	paramFormats, b, ok := cutFormats(b, nil)
	if !ok || len(paramFormats) > 1 || len(b) < 2 {
		return 0, into, false
	}
	params := binary.BigEndian.Uint16(b)
	b = b[2:]
	rows = f.rows
	switch {
	case !f.param:
		if params != 0 {
			return 0, into, false
		}
	default:
		if params != 1 || len(b) < 4 {
			return 0, into, false
		}
		size := binary.BigEndian.Uint32(b)
		b = b[4:]
		if uint64(size) > uint64(len(b)) { // also NULL, whose size is -1
			return 0, into, false
		}
		binaryFormat := len(paramFormats) == 1 && paramFormats[0] == 1
		n, valid := readCount(b[:size], parameter, binaryFormat)
		if !valid || n < 1 || n > maxIDs/int64(len(f.columns)) {
			return 0, into, false
		}
		rows = int(n)
		b = b[size:]
	}
	formats, b, ok = cutFormats(b, into)
	if !ok || len(b) != 0 || (len(formats) > 1 && len(formats) != len(f.columns)) {
		return 0, formats, false
	}
	return rows, formats, true
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
