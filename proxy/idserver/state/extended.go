package state

import (
	"encoding/binary"

	"pgflurry/internal/fault"
	"pgflurry/proxy/idserver/command"
	"pgflurry/proxy/internal/wire"
)

// Everything is the number of rows without a limit.
const Everything = int(^uint(0) >> 1)

// Parse handles a Parse: the name, the text, and the types of parameters that the client declares.
func (s *Session) Parse(body []byte) error {
	m := message(body)
	name, text := m.text(), m.text()
	n := m.count()
	if !m.holds(4 * n) {
		return ErrMessage
	}
	s.Transaction.Start()
	if len(name) == 0 {
		s.Objects.DropUnnamed()
	}
	if n == 0 && m.ended() {
		if p := s.Objects.remembered(text); p != nil && !s.Transaction.failed() {
			return s.Objects.store(string(name), p)
		}
	}
	declared := make([]uint32, n)
	for i := range declared {
		declared[i] = m.number()
	}
	if !m.ended() {
		return ErrMessage
	}
	commands, err := command.Read(text)
	if err != nil {
		return err
	}
	p := &Statement{types: declared, cost: costOfStatement(nil, declared)}
	switch {
	case len(commands) > 1:
		return errSeveral
	case len(commands) == 0:
		err = command.Determined(declared)
	case s.Transaction.refuses(commands[0]):
		err = errFailedBlock
	default:
		p, err = prepare(commands[0], declared, text)
	}
	if err == nil {
		err = s.see(p)
	}
	if err != nil {
		return err
	}
	if n == 0 {
		s.Objects.remember(text, p)
	}
	return s.Objects.store(string(name), p)
}

// see keeps the row shape that Parse has seen. When the statement is described, the object that it names may have
// changed or gone.
func (s *Session) see(p *Statement) (err error) {
	if _, own := p.command.(command.Query); own {
		return nil
	}
	p.seen, err = s.shapeOf(p)
	p.cost += p.seen.cost()
	return err
}

// Bind handles a Bind: it makes a portal of a statement, with parameters and the formats of the columns.
func (s *Session) Bind(body []byte) error {
	m := message(body)
	name, of := m.text(), m.text()
	p, err := s.Objects.find(of)
	if err != nil {
		return err
	}
	s.Transaction.Start()
	formats := m.formats()
	n := m.count()
	switch {
	case formats.count > 1 && formats.count != n:
		return fault.Errorf("08P01", "", "bind message has %d parameter formats but %d parameters", formats.count, n)
	case n != len(p.types):
		return fault.Errorf("08P01", "",
			`bind message supplies %d parameters, but prepared statement "%s" requires %d`, n, of, len(p.types))
	case s.Transaction.failed() && (!endsBlock(p.command) || n > 0):
		return errFailedBlock
	}
	portal, err := s.newPortal(name, p)
	if err != nil {
		return err
	}
	if err := portal.setParams(&m, formats); err != nil {
		return err
	}
	results := m.formats()
	if !m.ended() {
		return ErrMessage
	}
	if err := portal.setFormats(results); err != nil {
		return err
	}
	bound := len(body) + costOfValue*len(portal.params)
	if err := s.Kept.Add(bound); err != nil {
		return err
	}
	portal.cost += bound
	return nil
}

// AppendDescribed handles a Describe: it appends the description of a portal, or of a statement.
func (s *Session) AppendDescribed(b, body []byte) ([]byte, error) {
	what, name, err := target(body)
	if err != nil {
		return b, err
	}
	s.Transaction.Start()
	if what == wire.OfStatement {
		p, err := s.Objects.find(name)
		if err == nil && s.Transaction.failed() && p.seen.hasRows {
			err = errFailedBlock
		}
		if err != nil {
			return b, err
		}
		return p.appendDescription(b), nil
	}
	p := s.Objects.portal(name)
	switch {
	case p == nil:
		return b, noPortal(string(name))
	case s.Transaction.failed() && p.shape.hasRows:
		return b, errFailedBlock
	}
	return p.AppendDescription(b), nil
}

// appendDescription writes a ParameterDescription, and a RowDescription or NoData.
func (p *Statement) appendDescription(b []byte) []byte {
	b, at := wire.Begin(b, wire.BackendParameterDescription)
	b = binary.BigEndian.AppendUint16(b, uint16(len(p.types)))
	for _, oid := range p.types {
		b = binary.BigEndian.AppendUint32(b, oid)
	}
	return p.seen.appendTo(wire.End(b, at), nil)
}

// Execute handles an Execute: it finds the portal, which may be run now, and how many rows the client asks for.
func (s *Session) Execute(body []byte) (p *Portal, most int, err error) {
	m := message(body)
	name := m.text()
	most = int(int32(m.number()))
	if !m.ended() {
		return nil, 0, ErrMessage
	}
	if p = s.Objects.portal(name); p == nil {
		return nil, 0, noPortal(string(name))
	}
	if p.Empty() {
		return p, 0, nil
	}
	s.Transaction.Start()
	if s.Transaction.failed() && (!endsBlock(p.statement.command) || p.failed) {
		return nil, 0, errFailedBlock
	}
	if p.broken || p.begun && !p.shape.hasRows {
		return nil, 0, cannotRun(string(name))
	}
	if most <= 0 {
		most = Everything
	}
	return p, most, nil
}

// Suspended notes that an Execute has written as many rows as its client asked for.
func (s *Session) Suspended(p *Portal) error {
	s.Transaction.piped = true
	return s.keepRows(p)
}

// Executed notes that an Execute has written the last row, or has run a command.
func (s *Session) Executed(commits bool) {
	if commits {
		s.Transaction.Finish()
	} else {
		s.Transaction.piped = true
	}
}

// Close handles a Close. It also succeeds for an object that does not exist.
func (s *Session) Close(body []byte) error {
	what, name, err := target(body)
	switch {
	case err != nil:
		return err
	case what == wire.OfPortal:
		s.Objects.dropPortal(name)
	case len(name) == 0:
		s.Objects.DropUnnamed()
	default:
		s.Objects.deallocate(string(name))
	}
	return nil
}

// target reads the target of a Describe or Close: portal or statement, and its name.
func target(body []byte) (what byte, name []byte, err error) {
	if len(body) == 0 {
		return 0, nil, ErrMessage
	}
	m := message(body[1:])
	name = m.text()
	switch {
	case !m.ended():
		return 0, nil, ErrMessage
	case body[0] != wire.OfPortal && body[0] != wire.OfStatement:
		return 0, nil, fault.Errorf("08P01", "Describe and Close name a statement (S) or a portal (P).",
			"message names an object of kind %d", body[0])
	}
	return body[0], name, nil
}
