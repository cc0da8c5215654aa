package idserver

import (
	"bytes"
	"strconv"

	"pgflurry/idserver/command"
	"pgflurry/proxy/wire"
)

// everything is the number of rows without a limit.
const everything = int(^uint(0) >> 1)

// query runs the statements of a Query, one after the other. Several statements are one transaction, unless they begin
// or end one themselves.
func (s *session) query(body []byte) error {
	text, rest, ok := bytes.Cut(body, []byte{0})
	if !ok || len(rest) > 0 {
		return errMessage
	}
	s.start()
	s.objects.dropUnnamed()
	if p := s.objects.remembered(text); p != nil && len(p.types) == 0 {
		return s.runStatement(p, true)
	}
	commands, err := command.Read(text)
	if err != nil {
		return err
	}
	if len(commands) == 0 {
		s.finish()
		s.out = append(s.out, wire.EmptyQuery...)
		return nil
	}
	for i, c := range commands {
		if err := s.checkCancel(); err != nil {
			return err
		}
		s.start()
		if len(commands) > 1 && s.transaction.block == blockStatement {
			s.transaction.block = blockImplicit
		}
		if s.transaction.block == blockFailed && !endsBlock(c) {
			return errFailedBlock
		}
		p, err := prepare(c, nil, text)
		if err != nil {
			return err
		}
		if len(p.types) > 0 {
			return errNoParameter
		}
		if len(commands) == 1 {
			s.objects.remember(text, p)
		}
		if err := s.runStatement(p, i == len(commands)-1); err != nil {
			return err
		}
	}
	return nil
}

// runStatement runs a statement of a Query in the unnamed portal: [RowDescription, its rows] CommandComplete.
func (s *session) runStatement(p *prepared, last bool) error {
	if s.transaction.block == blockFailed && !endsBlock(p.command) {
		return errFailedBlock
	}
	portal, err := s.newPortal(nil, p)
	if err != nil {
		return err
	}
	if f, ok := p.command.(command.Fetch); ok {
		if cursor := s.objects.portals[cut(f.Cursor)]; cursor != nil && cursor.binary {
			portal.formats = append(portal.formats, 1)
		}
	}
	if portal.shape.told {
		if err := s.beginRows(portal); err != nil { // before its rows are described
			return err
		}
		s.out = portal.shape.appendTo(s.out, portal.formats)
	}
	tag, n, err := s.runPortal(portal, everything)
	if err != nil {
		return err
	}
	s.objects.dropPortal(nil)
	if last {
		s.finish()
	}
	s.complete(tag, n)
	return nil
}

// newPortal makes the portal of a statement.
func (s *session) newPortal(name []byte, p *prepared) (*portal, error) {
	shape, err := s.shapeOf(p)
	if err != nil {
		return nil, err
	}
	portal, err := s.objects.newPortal(name, p.cost)
	if err != nil {
		return nil, err
	}
	portal.statement, portal.shape, portal.level = p, shape, len(s.transaction.savepoints)
	return portal, nil
}

// runPortal runs a portal. If it gives rows, runPortal writes up to most of the remaining ones and returns how many.
func (s *session) runPortal(p *portal, most int) (tag string, n int, err error) {
	c := p.statement.command
	if !p.shape.told {
		p.begun = true
		return s.do(p, c)
	}
	if err := s.beginRows(p); err != nil {
		return "", 0, err
	}
	n, err = s.writeRows(p, most)
	p.broken = err != nil
	return c.Tag(), n, err
}

// complete writes the CommandComplete of a statement: with n rows, if its tag has a number.
func (s *session) complete(tag string, n int) {
	b, at := wire.Begin(s.out, wire.BackendCommandComplete)
	b = append(b, tag...)
	if tag == "SELECT" || tag == "FETCH" || tag == "MOVE" {
		b = append(b, ' ')
		b = strconv.AppendInt(b, int64(n), 10)
	}
	s.out = wire.End(append(b, 0), at)
}

// prepare makes a prepared statement of a command with this text.
func prepare(c command.Command, declared []uint32, text []byte) (*prepared, error) {
	p := &prepared{command: c, types: declared, cost: costOfStatement(text, declared)}
	query, ok := c.(command.Query)
	if !ok {
		return p, command.Determined(declared)
	}
	types, err := query.Types(declared)
	if err != nil {
		return nil, err
	}
	p.types, p.cost = types, costOfStatement(text, types)
	p.seen = shape{told: true}
	if draw, draws := c.(command.Draw); draws {
		p.seen.form = draw.Form
	} else {
		p.seen.columns = query.Columns(types)
	}
	return p, nil
}

// endsBlock says whether a failed transaction accepts the command. It accepts nothing else.
func endsBlock(c command.Command) bool {
	switch c.(type) {
	case command.Commit, command.Rollback, command.RollbackTo:
		return true
	}
	return false
}
