package state

import (
	"pgflurry/internal/fault"
	"pgflurry/proxy/idserver/command"
)

// Done is the outcome of a command without rows.
type Done struct {
	Tag     string
	Skipped int         // rows of a FETCH that no Describe announced
	Warning fault.Error // for the client, even if the command failed; none if it has no SQLSTATE
}

// Do runs the command of a portal that has no rows.
func (s *Session) Do(p *Portal) (done Done, err error) {
	p.begun = true
	done.Tag = p.Tag()
	t := &s.Transaction
	switch c := p.statement.command.(type) {
	case command.Begin:
		done.Warning = t.beginBlock()
		err = t.setModes(c.Modes, true)
	case command.Commit:
		done.Tag, done.Warning = t.endBlock(true)
	case command.Rollback:
		done.Tag, done.Warning = t.endBlock(false)
	case command.Savepoint:
		err = t.addSavepoint(c.Name)
	case command.Release:
		err = t.release(c.Name)
	case command.RollbackTo:
		err = t.rollbackTo(c.Name)
	case command.Set:
		done.Warning, err = t.setCommand(c)
	case command.SetTransaction:
		done.Warning, err = t.setTransaction(c)
	case command.Reset:
		err = t.reset(c)
	case command.Discard:
		err = s.discard(c, p)
	case command.Fetch: // its cursor did not exist when it was described
		var unseen Rows
		unseen, err = s.fetch(c)
		done.Skipped = unseen.Left
	default:
		err = s.doObject(p, c)
	}
	return done, err
}

// doObject runs a command for prepared statements or cursors.
func (s *Session) doObject(p *Portal, c command.Command) (err error) {
	switch c := c.(type) {
	case command.Deallocate:
		if c.All {
			s.Objects.DeallocateAll()
		} else if !s.Objects.deallocate(c.Name) {
			err = noStatement(c.Name)
		}
	case command.Declare:
		err = s.declare(c, p.statement.cost)
	case command.Close:
		err = s.closeCursor(c, p)
	case command.Unlisten:
	default:
		err = fault.New("0A000", c.Tag()+" is not answered without PostgreSQL", "")
	}
	return err
}

// closeCursor runs CLOSE. p is its own portal.
func (s *Session) closeCursor(c command.Close, p *Portal) error {
	if c.All {
		s.Objects.CloseAll(p)
		return nil
	}
	switch s.Objects.cursor(c.Name) {
	case nil:
		return noCursor(c.Name)
	case p:
		return fault.New("24000", `cannot drop active portal "`+c.Name+`"`, "")
	}
	s.Objects.dropPortal([]byte(c.Name))
	return nil
}

func (s *Session) declare(c command.Declare, cost int) error {
	if !c.Hold && !s.Transaction.long() {
		return needsBlock("DECLARE CURSOR")
	}
	p, err := prepare(c.Query, nil, nil)
	if err != nil {
		return err
	}
	if len(p.types) > 0 {
		return errNoParameter
	}
	p.cost = cost
	cursor, err := s.newPortal([]byte(c.Name), p)
	if err == nil {
		cursor.hold = c.Hold
	}
	return err
}

// discard runs DISCARD. p is its own portal.
func (s *Session) discard(c command.Discard, p *Portal) error {
	if c.What != "ALL" {
		return nil // there are no plans, temporary tables or sequences
	}
	switch {
	case s.Transaction.long():
		return fault.New("25001", "DISCARD ALL cannot run inside a transaction block", "")
	case s.Transaction.piped:
		return fault.New("25001", "DISCARD ALL cannot be executed within a pipeline", "")
	}
	s.Objects.CloseAll(p)
	s.Objects.DeallocateAll()
	return s.Transaction.ResetAll()
}
