package idserver

import "pgflurry/proxy/wire"

// block is the session's transaction state. The words are PostgreSQL's (xact.c).
type block uint8

const (
	blockNone      block = iota
	blockStatement       // a transaction of its own: that of a statement, or of a batch up to its Sync
	blockImplicit        // the same, of a Query with several statements
	blockOpen            // after BEGIN
	blockFailed          // after BEGIN and then an error
)

// transaction is the present transaction. A rollback can undo only settings and cursors.
type transaction struct {
	block      block
	piped      bool // an Execute in it has succeeded, or was suspended
	savepoints []savepoint
}

// savepoint is a savepoint, with the length of the settings' journal at that time.
type savepoint struct {
	name  string
	marks int
}

func (t *transaction) status() byte {
	switch t.block {
	case blockOpen:
		return wire.StatusTransaction
	case blockFailed:
		return wire.StatusFailed
	}
	return wire.StatusIdle
}

// start begins a transaction if there is none.
func (s *session) start() {
	if s.transaction.block == blockNone {
		s.transaction.block = blockStatement
	}
}

// finish commits a transaction that is no block.
func (s *session) finish() {
	if b := s.transaction.block; b == blockStatement || b == blockImplicit {
		s.commit()
	}
}

func (s *session) commit() {
	s.commitSettings()
	s.over()
}

func (s *session) rollback() {
	s.undo(0)
	s.commitSettings()
	s.objects.dropNew()
	s.over()
}

// over ends the transaction, with its cursors and portals.
func (s *session) over() {
	s.transaction.block, s.transaction.piped = blockNone, false
	for i := range s.transaction.savepoints {
		s.objects.kept -= costOf(s.transaction.savepoints[i].name)
	}
	s.transaction.savepoints = nil
	s.objects.dropPortals()
}

// abort does to the transaction what an error does.
func (s *session) abort() {
	switch s.transaction.block {
	case blockStatement, blockImplicit:
		s.rollback()
	case blockOpen:
		s.transaction.block = blockFailed
		s.objects.fail(len(s.transaction.savepoints))
		marks := 0
		if n := len(s.transaction.savepoints); n > 0 {
			marks = s.transaction.savepoints[n-1].marks
		}
		s.undo(marks)
	}
}

// beginBlock runs BEGIN.
func (s *session) beginBlock() {
	if s.transaction.block == blockOpen {
		s.warn("25001", "there is already a transaction in progress")
		return
	}
	s.transaction.block = blockOpen
}

// endBlock runs COMMIT or ROLLBACK. It returns which of them it was in the end.
func (s *session) endBlock(commit bool) (tag string) {
	if b := s.transaction.block; b == blockStatement || b == blockImplicit {
		s.warn("25P01", "there is no transaction in progress")
	}
	if commit && s.transaction.block != blockFailed {
		s.commit()
		return "COMMIT"
	}
	s.rollback()
	return "ROLLBACK"
}

// inBlock says that the session is in a block after BEGIN, open or failed.
func (s *session) inBlock() bool { b := s.transaction.block; return b == blockOpen || b == blockFailed }

func (s *session) addSavepoint(name string) error {
	if !s.inBlock() {
		return needsBlock("SAVEPOINT")
	}
	if err := s.objects.keep(costOf(name)); err != nil {
		return err
	}
	t := &s.transaction
	t.savepoints = append(t.savepoints, savepoint{name, len(s.settings.journal)})
	return nil
}

// release forgets a savepoint and all later ones. Changes since then belong to the savepoint before.
func (s *session) release(name string) error {
	i, err := s.findSavepoint(name, "RELEASE SAVEPOINT")
	if err != nil {
		return err
	}
	s.cutSavepoints(i)
	s.objects.release(i)
	return nil
}

// rollbackTo undoes all changes since a savepoint, which stays.
func (s *session) rollbackTo(name string) error {
	i, err := s.findSavepoint(name, "ROLLBACK TO SAVEPOINT")
	if err != nil {
		return err
	}
	s.undo(s.transaction.savepoints[i].marks)
	s.cutSavepoints(i + 1)
	s.objects.dropAbove(i)
	s.transaction.block = blockOpen
	return nil
}

func (s *session) cutSavepoints(n int) {
	t := &s.transaction
	for _, sp := range t.savepoints[n:] {
		s.objects.kept -= costOf(sp.name)
	}
	clear(t.savepoints[n:])
	t.savepoints = t.savepoints[:n]
}

func (s *session) findSavepoint(name, word string) (int, error) {
	if !s.inBlock() {
		return 0, needsBlock(word)
	}
	for i := len(s.transaction.savepoints) - 1; i >= 0; i-- {
		if s.transaction.savepoints[i].name == name {
			return i, nil
		}
	}
	return 0, problem{"3B001", `savepoint "` + name + `" does not exist`, ""}
}
