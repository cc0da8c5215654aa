package proxy

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"

	"pgflurry/proxy/statement"
	"pgflurry/proxy/wire"
)

// known is a prepared statement whose text is an answered form. The client's goroutine makes it when it forwards the
// Parse. Upstream's goroutine decides its state.
type known struct {
	form  *statement.Form
	state knownState
	epoch uint64 // conversation.epoch when it became live
	// countType is the type OID of the count if that is a parameter. It is 0 until a ParameterDescription was relayed.
	countType uint32
	wanted    bool // the client has sent a Describe whose reply has countType
}

type knownState uint8

const (
	pending knownState = iota // its batch is not over
	live
	dead // its batch failed, or may have deallocated it
)

// knownAs finds the statement that has this name, or will have it.
func (c *conversation) knownAs(name []byte) *known {
	switch {
	case len(name) == 0:
		return c.knownUnnamed
	case len(name) > wire.NameBytes:
		return nil
	}
	return c.named[string(name)]
}

// answerable finds the statement of this name if it surely exists. It may be called only while upstream owes nothing.
func (c *conversation) answerable(name []byte) *known {
	k := c.knownAs(name)
	// DEALLOCATE ALL and its like spare the unnamed statement.
	if k == nil || k.state != live || k.epoch != c.epoch && len(name) > 0 {
		return nil
	}
	return k
}

// forget forgets the statement of this name, compared as PostgreSQL compares names. It forgets every named one if the
// name is not pure ASCII: the client's encoding decides which name that is. Two bytes can be a backslash
// (SHIFT_JIS_2004).
func (c *conversation) forget(name []byte) {
	switch {
	case len(name) == 0:
		c.knownUnnamed = nil
	case !isPlain(name):
		clear(c.named)
		c.columns = 0
	default:
		c.drop(string(name[:min(len(name), wire.NameBytes)]))
	}
}

// isPlain says whether a name means the same in every encoding.
func isPlain(name []byte) bool {
	return !bytes.ContainsFunc(name, func(r rune) bool { return r >= utf8.RuneSelf })
}

func (c *conversation) drop(name string) {
	if k := c.named[name]; k != nil {
		c.columns -= len(k.form.Columns)
		delete(c.named, name)
	}
}

// remember keeps a statement under its name, or returns false. forget was called before. PostgreSQL truncates a longer
// name, and the meaning of non-ASCII bytes depends on the client's encoding.
func (c *conversation) remember(name []byte, k *known) bool {
	switch {
	case len(name) == 0:
		c.knownUnnamed = k
		return true
	case len(name) > wire.NameBytes, !isPlain(name):
		return false
	}
	if !c.hasRoom(k) {
		for name, old := range c.named {
			if old.state == dead || old.state == live && old.epoch != c.epoch {
				c.drop(name)
			}
		}
	}
	if !c.hasRoom(k) {
		return false
	}
	if c.named == nil {
		c.named = make(map[string]*known)
	}
	c.named[string(name)] = k
	c.columns += len(k.form.Columns)
	return true
}

// hasRoom says whether the session may remember one more named statement.
func (c *conversation) hasRoom(k *known) bool {
	return len(c.named) < maxNamed && c.columns+len(k.form.Columns) <= maxColumns
}

// readParse reads a Parse. The form is nil if the text is no answered form, or if the message is not whole. It is also
// nil if the client declares types of parameters that the form does not have.
func (c *conversation) readParse(body []byte, whole bool) (name, text []byte, f *statement.Form) {
	name, rest := cutName(body)
	text, types, ok := cutTypes(rest)
	if !ok || !whole {
		return name, text, nil
	}
	f = c.match(text)
	if f == nil || len(types)/4 > f.Params() {
		return name, text, nil
	}
	if f.Tag != nil && f.Tag.Param && len(types) > 0 {
		switch binary.BigEndian.Uint32(types) {
		case 0, wire.OIDText, wire.OIDVarchar: // 0: not declared, so text
		default:
			return name, text, nil
		}
	}
	return name, text, f
}

// cutTypes splits the rest of a Parse after its name: the text, and the OIDs of the parameter types, four bytes each.
// ok is false if the message is malformed.
func cutTypes(b []byte) (text, types []byte, ok bool) {
	text, b = cutName(b)
	if len(b) < 2 || len(b) != 2+4*int(binary.BigEndian.Uint16(b)) {
		return text, nil, false
	}
	return text, b[2:], true
}
