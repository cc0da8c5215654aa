package state

import (
	"bytes"

	"pgflurry/proxy/idserver/command"
)

// Query reads the text of a Query. It is either one statement that was read before, or commands for Prepare, in their
// order: none if the text is empty.
func (s *Session) Query(body []byte) (known *Statement, text []byte, commands []command.Command, err error) {
	text, rest, ok := bytes.Cut(body, []byte{0})
	if !ok || len(rest) > 0 {
		return nil, nil, nil, ErrMessage
	}
	s.Transaction.Start()
	s.Objects.DropUnnamed()
	if p := s.Objects.remembered(text); p != nil && len(p.types) == 0 {
		return p, text, nil, nil
	}
	commands, err = command.Read(text)
	return nil, text, commands, err
}

// Prepare makes a statement of a command of a Query. If several commands are in its text, they are one transaction,
// unless they begin or end one themselves.
func (s *Session) Prepare(c command.Command, text []byte, several bool) (*Statement, error) {
	s.Transaction.Start()
	if several {
		s.Transaction.several()
	}
	if s.Transaction.refuses(c) {
		return nil, errFailedBlock
	}
	p, err := prepare(c, nil, text)
	if err != nil {
		return nil, err
	}
	if len(p.types) > 0 {
		return nil, errNoParameter
	}
	if !several {
		s.Objects.remember(text, p)
	}
	return p, nil
}

// Open makes the unnamed portal of a statement of a Query. If that has rows, they are known afterwards.
func (s *Session) Open(p *Statement) (*Portal, error) {
	if s.Transaction.refuses(p.command) {
		return nil, errFailedBlock
	}
	portal, err := s.newPortal(nil, p)
	if err != nil {
		return nil, err
	}
	if portal.shape.hasRows {
		err = s.BeginRows(portal)
	}
	return portal, err
}

// Closed notes that a statement of a Query has run.
func (s *Session) Closed(last bool) {
	s.Objects.dropPortal(nil)
	if last {
		s.Transaction.Finish()
	}
}
