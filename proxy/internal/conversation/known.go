package conversation

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"

	"pgflurry/proxy/internal/wire"
	"pgflurry/proxy/statement"
)

// known is a prepared statement whose text is an answered form. The client's goroutine makes it when it forwards the
// Parse. Upstream's goroutine decides its state.
type known struct {
	form  *statement.Form
	state knownState
	epoch uint64 // statements.epoch when it became live
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

// statements are a session's prepared statements whose text is an answered form. All fields but epoch, and the states
// of the statements, belong to the client's goroutine.
type statements struct {
	allows   func(*statement.Form) bool // condition 2 of doc.go
	unlisted bool                       // Session.Unlisted
	unnamed  *known                     // nil: its text is not known
	named    map[string]*known
	columns  int   // of all in named
	kept     known // the memory of unnamed after an answered Parse
	lastText []byte
	lastForm *statement.Form
	// barred says that the proxy forwards the present batch because of an answered form that it may not answer here. It
	// counts the batch's Binds of such forms as unpermitted, as it does with Queries.
	barred      bool
	unpermitted int

	epoch uint64 // rises when named statements may be gone; guarded by Conversation.mu
}

// match finds the form of a text. It remembers the last one, because clients send the same text again and again.
func (s *statements) match(text []byte) *statement.Form {
	if s.lastForm != nil && string(s.lastText) == string(text) {
		return s.lastForm
	}
	f, ok := statement.Match(text)
	if !ok {
		return nil
	}
	s.lastText, s.lastForm = append(s.lastText[:0], text...), f
	return f
}

// knownAs finds the statement that has this name, or will have it.
func (s *statements) knownAs(name []byte) *known {
	switch {
	case len(name) == 0:
		return s.unnamed
	case len(name) > wire.NameBytes:
		return nil
	}
	return s.named[string(name)]
}

// keep makes this form the text of the unnamed statement.
func (s *statements) keep(f *statement.Form) {
	s.kept = known{form: f, state: live, epoch: s.epoch}
	s.unnamed = &s.kept
}

// countBarred counts a Bind that is forwarded if only Permission forbids an answer.
func (s *statements) countBarred(body []byte) {
	if !s.barred {
		return
	}
	_, rest := wire.CutName(body)
	name, _ := wire.CutName(rest)
	if k := s.knownAs(name); k != nil && !s.allows(k.form) {
		s.unpermitted++
	}
}

// forgetNamed forgets all live named statements, and those that a batch would make. It returns those that the batch
// still makes: the unnamed one.
func (s *statements) forgetNamed(learns []*known) (left []*known) {
	s.epoch++
	left = learns[:0]
	for _, k := range learns {
		if k == s.unnamed {
			left = append(left, k)
		} else {
			k.state = dead
		}
	}
	return left
}

// answerable finds the statement of this name if it surely exists. It may be called only while upstream owes nothing.
func (s *statements) answerable(name []byte) *known {
	k := s.knownAs(name)
	// DEALLOCATE ALL and its like spare the unnamed statement.
	if k == nil || k.state != live || k.epoch != s.epoch && len(name) > 0 {
		return nil
	}
	return k
}

// forget forgets the statement of this name, compared as PostgreSQL compares names. It forgets every named one if the
// name is not pure ASCII: the client's encoding decides which name that is. Two bytes can be a backslash
// (SHIFT_JIS_2004).
func (s *statements) forget(name []byte) {
	switch {
	case len(name) == 0:
		s.unnamed = nil
	case !isPlain(name):
		clear(s.named)
		s.columns = 0
	default:
		s.drop(string(name[:min(len(name), wire.NameBytes)]))
	}
}

// isPlain says whether a name means the same in every encoding.
func isPlain(name []byte) bool {
	return !bytes.ContainsFunc(name, func(r rune) bool { return r >= utf8.RuneSelf })
}

func (s *statements) drop(name string) {
	if k := s.named[name]; k != nil {
		s.columns -= len(k.form.Columns)
		delete(s.named, name)
	}
}

// remember keeps a statement under its name, or returns false. forget was called before. PostgreSQL truncates a longer
// name, and the meaning of non-ASCII bytes depends on the client's encoding.
func (s *statements) remember(name []byte, k *known) bool {
	switch {
	case len(name) == 0:
		s.unnamed = k
		return true
	case len(name) > wire.NameBytes, !isPlain(name):
		return false
	}
	if !s.hasRoom(k) {
		for name, old := range s.named {
			if old.state == dead || old.state == live && old.epoch != s.epoch {
				s.drop(name)
			}
		}
	}
	if !s.hasRoom(k) {
		return false
	}
	if s.named == nil {
		s.named = make(map[string]*known)
	}
	s.named[string(name)] = k
	s.columns += len(k.form.Columns)
	return true
}

// hasRoom says whether the session may remember one more named statement.
func (s *statements) hasRoom(k *known) bool {
	return len(s.named) < maxNamed && s.columns+len(k.form.Columns) <= maxColumns
}

// readParse reads a Parse. The form is nil if the text is no answered form, or if the message is not whole. It is also
// nil if the client declares types of parameters that the form does not have.
func (s *statements) readParse(body []byte, whole bool) (name, text []byte, f *statement.Form) {
	name, rest := wire.CutName(body)
	text, types, ok := cutTypes(rest)
	if !ok || !whole {
		return name, text, nil
	}
	f = s.match(text)
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
	text, b = wire.CutName(b)
	if len(b) < 2 || len(b) != 2+4*int(binary.BigEndian.Uint16(b)) {
		return text, nil, false
	}
	return text, b[2:], true
}
