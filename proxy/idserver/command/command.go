package command

import "pgflurry/proxy/statement"

// Command is what one statement asks for. It is one of the types below, Draw, or Select. It never changes.
type Command interface {
	// Tag is the tag of CommandComplete. Commands that give rows append their number.
	Tag() string
}

// Query is a command with columns and parameters that can be described before it runs: Draw or Select.
type Query interface {
	Command
	// Types are the types of the parameters. declared are those that the client declared; 0: not declared. A text
	// without parameters has as many as were declared.
	Types(declared []uint32) ([]uint32, error)
	// Columns describes the rows. types is the result of Types.
	Columns(types []uint32) []Column
}

// Setting is a name and its value, as in SET.
type Setting struct{ Name, Value string }

type (
	// Draw asks for IDs, or for numbers of a tag.
	Draw struct{ Form *statement.Form }

	// Begin is BEGIN, or START TRANSACTION. Its modes are settings of the transaction.
	Begin struct {
		Start bool // the tag is START TRANSACTION
		Modes []Setting
	}
	// Commit is COMMIT, or END.
	Commit struct{}
	// Rollback is ROLLBACK, or ABORT.
	Rollback struct{}
	// Savepoint is SAVEPOINT name.
	Savepoint struct{ Name string }
	// Release is RELEASE SAVEPOINT name.
	Release struct{ Name string }
	// RollbackTo is ROLLBACK TO SAVEPOINT name.
	RollbackTo struct{ Name string }

	// Set is SET and its special spellings, such as SET NAMES and SET TIME ZONE. A name is folded to lower case unless
	// it is quoted. A name with a dot is the client's own.
	Set struct {
		Name    string
		Values  []string // at least one, unless Default
		Default bool
		Local   bool // to the end of the transaction
	}
	// SetTransaction is SET TRANSACTION: settings such as transaction_isolation, of this transaction. With Session it
	// is SET SESSION CHARACTERISTICS AS TRANSACTION: settings such as default_transaction_isolation.
	SetTransaction struct {
		Session bool
		Modes   []Setting
	}
	// Reset is RESET name, or ALL.
	Reset struct {
		Name string
		All  bool
	}
	// Show is SHOW name, or ALL. The session decides which names are settings, and which are tables of the console.
	Show struct {
		Name string
		All  bool
	}

	// Discard is DISCARD; What is ALL, PLANS, TEMP or SEQUENCES.
	Discard struct{ What string }
	// Deallocate is DEALLOCATE name, or ALL.
	Deallocate struct {
		Name string
		All  bool
	}
	// Declare is DECLARE name CURSOR FOR query.
	Declare struct {
		Name  string
		Hold  bool // it outlives its transaction
		Query Query
	}
	// Fetch is FETCH: the next rows of a cursor.
	Fetch struct {
		Cursor string
		Count  int64 // at least 1; AllRows for all that are left
	}
	// Close is CLOSE cursor, or ALL.
	Close struct {
		Name string
		All  bool
	}
	// Unlisten is UNLISTEN. Nobody can listen here.
	Unlisten struct{}
)

// AllRows is the count of FETCH ALL.
const AllRows = 1<<63 - 1

func (Draw) Tag() string           { return "SELECT" }
func (Commit) Tag() string         { return "COMMIT" }
func (Rollback) Tag() string       { return "ROLLBACK" }
func (Savepoint) Tag() string      { return "SAVEPOINT" }
func (Release) Tag() string        { return "RELEASE" }
func (RollbackTo) Tag() string     { return "ROLLBACK" }
func (Set) Tag() string            { return "SET" }
func (SetTransaction) Tag() string { return "SET" }
func (Reset) Tag() string          { return "RESET" }
func (Show) Tag() string           { return "SHOW" }
func (d Discard) Tag() string      { return "DISCARD " + d.What }
func (Fetch) Tag() string          { return "FETCH" }
func (Declare) Tag() string        { return "DECLARE CURSOR" }
func (Unlisten) Tag() string       { return "UNLISTEN" }

func (b Begin) Tag() string {
	if b.Start {
		return "START TRANSACTION"
	}
	return "BEGIN"
}

func (d Deallocate) Tag() string {
	if d.All {
		return "DEALLOCATE ALL"
	}
	return "DEALLOCATE"
}

func (c Close) Tag() string {
	if c.All {
		return "CLOSE CURSOR ALL"
	}
	return "CLOSE CURSOR"
}
