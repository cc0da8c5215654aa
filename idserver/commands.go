package idserver

import (
	"pgflurry/idserver/command"
)

// do runs a command that gives no rows. n is how many rows a MOVE skipped.
func (s *session) do(p *portal, c command.Command) (tag string, n int, err error) {
	tag = c.Tag()
	switch c := c.(type) {
	case command.Begin:
		s.beginBlock()
		err = s.setModes(c.Modes, true)
	case command.Commit:
		tag = s.endBlock(true)
	case command.Rollback:
		tag = s.endBlock(false)
	case command.Savepoint:
		err = s.addSavepoint(c.Name)
	case command.Release:
		err = s.release(c.Name)
	case command.RollbackTo:
		err = s.rollbackTo(c.Name)
	case command.Set:
		err = s.setCommand(c)
	case command.SetTransaction:
		if !c.Session && !s.inTransaction() {
			s.warn("25P01", "SET TRANSACTION can only be used in transaction blocks")
		}
		err = s.setModes(c.Modes, !c.Session)
	case command.Reset:
		err = s.resetCommand(c)
	case command.Discard:
		err = s.discard(c, p)
	default:
		return s.doObject(p, c)
	}
	return tag, n, err
}

// doObject runs a command for prepared statements or cursors.
func (s *session) doObject(p *portal, c command.Command) (tag string, n int, err error) {
	tag = c.Tag()
	switch c := c.(type) {
	case command.Prepare:
		err = s.prepareCommand(c, p.statement.cost)
	case command.Deallocate:
		if c.All {
			s.objects.deallocateAll()
		} else if !s.objects.deallocate(c.Name) {
			err = noStatement(c.Name)
		}
	case command.Declare:
		err = s.declare(c, p.statement.cost)
	case command.Close:
		err = s.closeCommand(c, p)
	case command.Fetch: // a MOVE, or a FETCH whose cursor did not exist when it was described
		var moved rows
		moved, err = s.fetch(c)
		n = moved.left
	case command.Execute:
		_, err = s.executed(c)
	case command.Unlisten:
	default:
		err = problem{"0A000", c.Tag() + " is not answered without PostgreSQL", ""}
	}
	return tag, n, err
}

// inTransaction says that there is a transaction with more than one statement.
func (s *session) inTransaction() bool { return s.inBlock() || s.transaction.block == blockImplicit }

// commitsAtOnce says whether Execute of this command ends a transaction that is no block, without waiting for a Sync.
func commitsAtOnce(c command.Command) bool {
	switch c := c.(type) {
	case command.Begin, command.Commit, command.Rollback, command.Savepoint, command.Release, command.RollbackTo:
		return true
	case command.Discard:
		return c.What == "ALL"
	}
	return false
}

// closeCommand runs CLOSE. p is its own portal.
func (s *session) closeCommand(c command.Close, p *portal) error {
	if c.All {
		s.objects.closeAll(p)
		return nil
	}
	switch cursor := s.objects.portals[cut(c.Name)]; cursor {
	case nil:
		return noCursor(c.Name)
	case p:
		return problem{"24000", `cannot drop active portal "` + c.Name + `"`, ""}
	}
	s.objects.dropPortal([]byte(c.Name))
	return nil
}

func (s *session) prepareCommand(c command.Prepare, cost int) error {
	p, err := prepare(c.Query, c.Types, nil)
	if err != nil {
		return err
	}
	p.cost = cost
	return s.objects.store(c.Name, p)
}

func (s *session) declare(c command.Declare, cost int) error {
	if !c.Hold && !s.inTransaction() {
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
		cursor.hold, cursor.binary = c.Hold, c.Binary
	}
	return err
}

// discard runs DISCARD. p is its own portal.
func (s *session) discard(c command.Discard, p *portal) error {
	if c.What != "ALL" {
		return nil // there are no plans, temporary tables or sequences
	}
	switch {
	case s.inTransaction():
		return problem{"25001", "DISCARD ALL cannot run inside a transaction block", ""}
	case s.transaction.piped:
		return problem{"25001", "DISCARD ALL cannot be executed within a pipeline", ""}
	}
	s.objects.closeAll(p)
	s.objects.deallocateAll()
	return s.resetAll()
}

// warn sends the client a warning that PostgreSQL would send.
func (s *session) warn(sqlstate, message string) {
	switch level, _ := s.settings.get("client_min_messages"); level {
	case "error", "fatal", "panic":
		return
	}
	s.out = appendWarning(s.out, problem{sqlstate, message, ""})
}
