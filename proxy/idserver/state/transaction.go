package state

import (
	"pgflurry/internal/fault"
	"pgflurry/proxy/idserver/command"
	"pgflurry/proxy/internal/wire"
)

// block is the session's transaction state. The words are PostgreSQL's (xact.c).
type block uint8

const (
	blockNone      block = iota
	blockStatement       // a transaction of its own: that of a statement, or of a batch up to its Sync
	blockImplicit        // the same, of a Query with several statements
	blockOpen            // after BEGIN
	blockFailed          // after BEGIN and then an error
)

// Transaction is the present transaction. An error or a rollback can undo only cursors: settings stay as they are,
// except those of SET LOCAL.
type Transaction struct {
	block      block
	piped      bool // an Execute in it has succeeded, or was suspended
	savepoints []string
	now        int64 // of now(), in microseconds since 1970; 0: nobody asked

	parameters *Parameters
	objects    *Objects
}

// Status is what ReadyForQuery says.
func (t *Transaction) Status() byte {
	switch t.block {
	case blockOpen:
		return wire.StatusTransaction
	case blockFailed:
		return wire.StatusFailed
	}
	return wire.StatusIdle
}

// Rest says that there is no transaction.
func (t *Transaction) Rest() bool { return t.block == blockNone }

// Start begins a transaction if there is none.
func (t *Transaction) Start() {
	if t.block == blockNone {
		t.block = blockStatement
	}
}

// Finish commits a transaction that is no block.
func (t *Transaction) Finish() {
	if b := t.block; b == blockStatement || b == blockImplicit {
		t.Commit()
	}
}

// Commit ends the transaction, and the settings that were for it alone.
func (t *Transaction) Commit() {
	t.parameters.end()
	t.over()
}

// Rollback ends the transaction, and undoes its cursors.
func (t *Transaction) Rollback() {
	t.parameters.end()
	t.objects.dropNew()
	t.over()
}

// over ends the transaction, with its cursors and portals.
func (t *Transaction) over() {
	t.block, t.piped, t.now = blockNone, false, 0
	t.cutSavepoints(0)
	t.savepoints = nil
	t.objects.dropPortals()
}

// Abort does to the transaction what an error does.
func (t *Transaction) Abort() {
	switch t.block {
	case blockStatement, blockImplicit:
		t.Rollback()
	case blockOpen:
		t.block = blockFailed
		t.objects.fail(len(t.savepoints))
		t.parameters.end()
	}
}

// several says that the transaction is that of a Query with several statements.
func (t *Transaction) several() {
	if t.block == blockStatement {
		t.block = blockImplicit
	}
}

// refuses says that the transaction has failed, and accepts nothing but commands that end it.
func (t *Transaction) refuses(c command.Command) bool { return t.failed() && !endsBlock(c) }

func (t *Transaction) failed() bool { return t.block == blockFailed }

// long says that there is a transaction with more than one statement.
func (t *Transaction) long() bool { return t.inBlock() || t.block == blockImplicit }

// warn is a warning, unless the client wants to read none.
func (t *Transaction) warn(sqlState, message string) fault.Error {
	switch level, _ := t.parameters.get("client_min_messages"); level {
	case "error", "fatal", "panic":
		return fault.Error{}
	}
	return fault.New(sqlState, message, "")
}

// beginBlock runs BEGIN.
func (t *Transaction) beginBlock() (warning fault.Error) {
	if t.block == blockOpen {
		return t.warn("25001", "there is already a transaction in progress")
	}
	t.block = blockOpen
	return warning
}

// endBlock runs COMMIT or ROLLBACK. It returns which of them it was in the end.
func (t *Transaction) endBlock(commit bool) (tag string, warning fault.Error) {
	if b := t.block; b == blockStatement || b == blockImplicit {
		warning = t.warn("25P01", "there is no transaction in progress")
	}
	if commit && !t.failed() {
		t.Commit()
		return "COMMIT", warning
	}
	t.Rollback()
	return "ROLLBACK", warning
}

// inBlock says that the session is in a block after BEGIN, open or failed.
func (t *Transaction) inBlock() bool { b := t.block; return b == blockOpen || b == blockFailed }

func (t *Transaction) addSavepoint(name string) error {
	if !t.inBlock() {
		return needsBlock("SAVEPOINT")
	}
	if err := t.parameters.kept.Add(CostOf(name)); err != nil {
		return err
	}
	t.savepoints = append(t.savepoints, name)
	return nil
}

// release forgets a savepoint and all later ones. Cursors since then belong to the savepoint before.
func (t *Transaction) release(name string) error {
	i, err := t.findSavepoint(name, "RELEASE SAVEPOINT")
	if err != nil {
		return err
	}
	t.cutSavepoints(i)
	t.objects.release(i)
	return nil
}

// rollbackTo closes all cursors since a savepoint, which stays.
func (t *Transaction) rollbackTo(name string) error {
	i, err := t.findSavepoint(name, "ROLLBACK TO SAVEPOINT")
	if err != nil {
		return err
	}
	t.cutSavepoints(i + 1)
	t.objects.dropAbove(i)
	t.block = blockOpen
	return nil
}

func (t *Transaction) cutSavepoints(n int) {
	for _, name := range t.savepoints[n:] {
		t.parameters.kept.Free(CostOf(name))
	}
	clear(t.savepoints[n:])
	t.savepoints = t.savepoints[:n]
}

func (t *Transaction) findSavepoint(name, word string) (int, error) {
	if !t.inBlock() {
		return 0, needsBlock(word)
	}
	for i := len(t.savepoints) - 1; i >= 0; i-- {
		if t.savepoints[i] == name {
			return i, nil
		}
	}
	return 0, fault.New("3B001", `savepoint "`+name+`" does not exist`, "")
}

// endsBlock says whether a failed transaction accepts the command. It accepts nothing else.
func endsBlock(c command.Command) bool {
	switch c.(type) {
	case command.Commit, command.Rollback, command.RollbackTo:
		return true
	}
	return false
}
