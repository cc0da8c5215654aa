package idserver

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"

	"pgflurry/idserver/command"
	"pgflurry/proxy/wire"
)

// parse handles Parse: the name, the text, and the types of parameters that the client declares.
func (s *session) parse(body []byte) error {
	m := message(body)
	name, text := m.text(), m.text()
	n := m.count()
	if !m.holds(4 * n) {
		return errMessage
	}
	s.start()
	if len(name) == 0 {
		s.objects.dropUnnamed()
	}
	if n == 0 && m.ended() {
		if p := s.objects.remembered(text); p != nil && s.transaction.block != blockFailed {
			return s.parsed(name, p)
		}
	}
	declared := make([]uint32, n)
	for i := range declared {
		declared[i] = m.number()
	}
	if !m.ended() {
		return errMessage
	}
	commands, err := command.Read(text)
	if err != nil {
		return err
	}
	p := &prepared{types: declared, cost: costOfStatement(nil, declared)}
	switch {
	case len(commands) > 1:
		return errSeveral
	case len(commands) == 0:
		err = command.Determined(declared)
	case s.transaction.block == blockFailed && !endsBlock(commands[0]):
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
		s.objects.remember(text, p)
	}
	return s.parsed(name, p)
}

// see keeps the row shape that Parse has seen. When the statement is described, the object that it names may have
// changed or gone.
func (s *session) see(p *prepared) (err error) {
	if _, own := p.command.(command.Query); own {
		return nil
	}
	p.seen, err = s.shapeOf(p)
	p.cost += p.seen.cost()
	return err
}

func (s *session) parsed(name []byte, p *prepared) error {
	if err := s.objects.store(string(name), p); err != nil {
		return err
	}
	s.out = append(s.out, wire.ParseComplete...)
	return nil
}

// bind handles Bind: it makes a portal of a statement, with parameters and the formats of the columns.
func (s *session) bind(body []byte) error {
	m := message(body)
	name, of := m.text(), m.text()
	p, err := s.objects.find(of)
	if err != nil {
		return err
	}
	s.start()
	formats := m.formats()
	n := m.count()
	switch {
	case formats.count > 1 && formats.count != n:
		return problem{
			"08P01", fmt.Sprintf("bind message has %d parameter formats but %d parameters", formats.count, n), "",
		}
	case n != len(p.types):
		return problem{"08P01", fmt.Sprintf(
			`bind message supplies %d parameters, but prepared statement "%s" requires %d`, n, of, len(p.types)), ""}
	case s.transaction.block == blockFailed && (!endsBlock(p.command) || n > 0):
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
		return errMessage
	}
	if err := portal.setFormats(results); err != nil {
		return err
	}
	bound := len(body) + costOfValue*len(portal.params)
	if err := s.objects.keep(bound); err != nil {
		return err
	}
	portal.cost += bound
	s.out = append(s.out, wire.BindComplete...)
	return nil
}

// setParams reads the values of the parameters from a Bind.
func (p *portal) setParams(m *reader, formats codes) error {
	p.params = slices.Grow(p.params, len(p.statement.types))
	for i, oid := range p.statement.types {
		raw, ok := m.parameter()
		if !ok {
			return errMessage
		}
		code := formats.of(i)
		if code > 1 {
			return noFormat(code)
		}
		value, err := command.Decode(oid, code, raw)
		if err != nil {
			return err
		}
		p.params = append(p.params, value)
	}
	return nil
}

// setFormats sets the formats of the columns.
func (p *portal) setFormats(results codes) error {
	if !p.shape.told {
		return nil
	}
	if width := p.shape.width(); results.count > 1 && results.count != width {
		return problem{"08P01", fmt.Sprintf("bind message has %d result formats but query has %d columns",
			results.count, width), ""}
	}
	for i := range results.count {
		code := results.of(i)
		if code > 1 {
			return noFormat(code)
		}
		p.formats = append(p.formats, code)
	}
	return nil
}

func noFormat(code uint16) problem {
	return problem{"22023", "unsupported format code: " + strconv.Itoa(int(code)), ""}
}

func (s *session) describe(body []byte) error {
	what, name, err := target(body)
	if err != nil {
		return err
	}
	s.start()
	if what == wire.OfStatement {
		return s.describeStatement(name)
	}
	p := s.objects.portal(name)
	switch {
	case p == nil:
		return noPortal(string(name))
	case s.transaction.block == blockFailed && p.shape.told:
		return errFailedBlock
	}
	s.out = p.shape.appendTo(s.out, p.formats)
	return nil
}

func (s *session) describeStatement(name []byte) error {
	p, err := s.objects.find(name)
	if err != nil {
		return err
	}
	if s.transaction.block == blockFailed && p.seen.told {
		return errFailedBlock
	}
	b, at := wire.Begin(s.out, wire.BackendParameterDescription)
	b = binary.BigEndian.AppendUint16(b, uint16(len(p.types)))
	for _, oid := range p.types {
		b = binary.BigEndian.AppendUint32(b, oid)
	}
	s.out = p.seen.appendTo(wire.End(b, at), nil)
	return nil
}

// execute handles Execute: it writes all rows of a portal, or as many as the client asks for.
func (s *session) execute(body []byte) error {
	m := message(body)
	name := m.text()
	most := int(int32(m.number()))
	if !m.ended() {
		return errMessage
	}
	p := s.objects.portal(name)
	if p == nil {
		return noPortal(string(name))
	}
	c := p.statement.command
	if c == nil {
		s.out = append(s.out, wire.EmptyQuery...)
		return nil
	}
	s.start()
	if s.transaction.block == blockFailed && (!endsBlock(c) || p.failed) {
		return errFailedBlock
	}
	if p.broken || p.begun && !p.shape.told {
		return cannotRun(string(name))
	}
	if most <= 0 {
		most = everything
	}
	tag, n, err := s.runPortal(p, most)
	if err != nil {
		return err
	}
	if p.shape.told && n == most {
		s.transaction.piped = true
		s.out = append(s.out, wire.PortalSuspended...)
		return s.keepRows(p)
	}
	if commitsAtOnce(c) {
		s.finish()
	} else {
		s.transaction.piped = true
	}
	s.complete(tag, n)
	return nil
}

// close handles Close. It also succeeds for an object that does not exist.
func (s *session) close(body []byte) error {
	what, name, err := target(body)
	switch {
	case err != nil:
		return err
	case what == wire.OfPortal:
		s.objects.dropPortal(name)
	case len(name) == 0:
		s.objects.dropUnnamed()
	default:
		s.objects.deallocate(string(name))
	}
	s.out = append(s.out, wire.CloseComplete...)
	return nil
}

// target reads the target of a Describe or Close: portal or statement, and its name.
func target(body []byte) (what byte, name []byte, err error) {
	if len(body) == 0 {
		return 0, nil, errMessage
	}
	m := message(body[1:])
	name = m.text()
	switch {
	case !m.ended():
		return 0, nil, errMessage
	case body[0] != wire.OfPortal && body[0] != wire.OfStatement:
		return 0, nil, problem{
			"08P01", fmt.Sprintf("message names an object of kind %d", body[0]),
			"Describe and Close name a statement (S) or a portal (P).",
		}
	}
	return body[0], name, nil
}
