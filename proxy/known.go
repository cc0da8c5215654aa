package proxy

import (
	"encoding/binary"

	"pgflurry/proxy/statement"
	"pgflurry/proxy/wire"
)

// known is a prepared statement whose text is an answered form. The client's goroutine makes it when the Parse is sent;
// upstream's goroutine decides what becomes of it.
type known struct {
	form  *statement.Form
	state knownState
	epoch uint64 // conversation.epoch when it became live
	// countType is the type OID of the count if that is a parameter; 0 until a ParameterDescription was relayed.
	countType uint32
	wanted    bool // a Describe was sent that will tell countType
}

type knownState uint8

const (
	pending knownState = iota // its batch is not over
	live
	dead // its batch failed, or may have deallocated it
)

// knownAs finds the statement that has the name, or will have it.
func (c *conversation) knownAs(name []byte) *known {
	switch {
	case len(name) == 0:
		return c.knownUnnamed
	case len(name) > wire.NameBytes:
		return nil
	}
	return c.named[string(name)]
}

// answerable finds the statement of that name if it is surely there. Only while nothing is owed.
func (c *conversation) answerable(name []byte) *known {
	k := c.knownAs(name)
	// what deallocates spares the unnamed statement
	if k == nil || k.state != live || k.epoch != c.epoch && len(name) > 0 {
		return nil
	}
	return k
}

// forget forgets the statement of a name, compared as PostgreSQL compares it.
func (c *conversation) forget(name []byte) {
	if len(name) == 0 {
		c.knownUnnamed = nil
		return
	}
	delete(c.named, string(name[:min(len(name), wire.NameBytes)]))
}

// remember gives a statement its name; false: it is not remembered. Of a longer name PostgreSQL keeps a part, and what
// other bytes mean depends on the client's encoding.
func (c *conversation) remember(name []byte, k *known) bool {
	switch {
	case len(name) == 0:
		c.knownUnnamed = k
		return true
	case len(name) > wire.NameBytes:
		return false
	}
	for _, b := range name {
		if !statement.IsPlain(b) {
			return false
		}
	}
	if len(c.named) >= maxNamed {
		for name, old := range c.named {
			if old.state == dead || old.state == live && old.epoch != c.epoch {
				delete(c.named, name)
			}
		}
	}
	if len(c.named) >= maxNamed {
		return false
	}
	if c.named == nil {
		c.named = make(map[string]*known)
	}
	c.named[string(name)] = k
	return true
}

// readParse reads a Parse. The form is nil where the text is none that may be answered, where the client declares
// parameter types that the form lacks, and where the message is not whole.
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

// cutTypes splits a Parse after its name: the text, and the OIDs of the parameters' types, four bytes each. False where
// it is not well-formed.
func cutTypes(b []byte) (text, types []byte, ok bool) {
	text, b = cutName(b)
	if len(b) < 2 || len(b) != 2+4*int(binary.BigEndian.Uint16(b)) {
		return text, nil, false
	}
	return text, b[2:], true
}
