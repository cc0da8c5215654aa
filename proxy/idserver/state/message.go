package state

import (
	"bytes"
	"encoding/binary"

	"pgflurry/proxy/internal/wire"
)

// reader reads the fields of a message one by one. A missing field sets spoiled.
type reader struct {
	left    []byte
	spoiled bool
}

func message(body []byte) reader { return reader{left: body} }

// holds says whether n more bytes are there.
func (m *reader) holds(n int) bool {
	m.spoiled = m.spoiled || len(m.left) < n
	return !m.spoiled
}

// ended says that the whole message was read, and that nothing was missing.
func (m *reader) ended() bool { return !m.spoiled && len(m.left) == 0 }

// text reads a text, which ends with a zero byte.
func (m *reader) text() []byte {
	text, rest, found := bytes.Cut(m.left, []byte{0})
	m.spoiled = m.spoiled || !found
	m.left = rest
	return text
}

// count reads a number of items.
func (m *reader) count() int {
	if !m.holds(2) {
		return 0
	}
	n := binary.BigEndian.Uint16(m.left)
	m.left = m.left[2:]
	return int(n)
}

func (m *reader) number() uint32 {
	if !m.holds(4) {
		return 0
	}
	n := binary.BigEndian.Uint32(m.left)
	m.left = m.left[4:]
	return n
}

// parameter reads the value of a parameter; nil for NULL. ok is false if it is missing.
func (m *reader) parameter() (value []byte, ok bool) {
	if len(m.left) >= 4 && int32(binary.BigEndian.Uint32(m.left)) == -1 {
		m.left = m.left[4:]
		return nil, true
	}
	value, rest, ok := wire.CutParam(m.left)
	m.spoiled = m.spoiled || !ok
	m.left = rest
	return value, !m.spoiled
}

// codes are the format codes of parameters or columns, in their form in the message.
type codes struct {
	raw   []byte
	count int
}

func (m *reader) formats() codes {
	n := m.count()
	if !m.holds(2 * n) {
		return codes{}
	}
	c := codes{m.left[:2*n], n}
	m.left = m.left[2*n:]
	return c
}

// of is the format code of item i. No code means text; a single one is for all items.
func (c codes) of(i int) uint16 {
	switch c.count {
	case 0:
		return 0
	case 1:
		i = 0
	}
	return binary.BigEndian.Uint16(c.raw[2*i:])
}
