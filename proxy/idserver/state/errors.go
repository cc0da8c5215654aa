package state

import "pgflurry/internal/fault"

// Errors of statements. If PostgreSQL has the same error, the words are its own. SQLSTATEs:
// https://www.postgresql.org/docs/current/errcodes-appendix.html
var (
	// ErrMessage is for a message whose fields make no sense.
	ErrMessage = fault.New("08P01", "invalid message format", fault.CheckDriver)
	errSeveral = fault.New("42601", "cannot insert multiple commands into a prepared statement", "")

	errFailedBlock = fault.New(
		"25P02", "current transaction is aborted, commands ignored until end of transaction block", "",
	)
	errChanged = fault.New(
		"0A000", "cached plan must not change result type",
		"The cursor or statement is another one than when this was bound. Bind it again.",
	)
	// for a FETCH from a portal whose statement gives no rows
	errNoRows = fault.New(
		"XX000", "unsupported portal strategy", "FETCH from a cursor, or from a portal of a SELECT.",
	)
	errNoUnnamed   = fault.New("26000", "unnamed prepared statement does not exist", "")
	errNoParameter = fault.New("42P02", "there is no parameter $1", "")
)

func noStatement(name string) fault.Error {
	return fault.New("26000", `prepared statement "`+name+`" does not exist`, "")
}

func noPortal(name string) fault.Error {
	return fault.New("34000", `portal "`+name+`" does not exist`, "")
}

func cannotRun(name string) fault.Error {
	return fault.New("55000", `portal "`+name+`" cannot be run`, "It has run: bind the statement again.")
}

func noCursor(name string) fault.Error {
	return fault.New("34000", `cursor "`+name+`" does not exist`, "")
}

func needsBlock(what string) fault.Error {
	return fault.New("25P01", what+" can only be used in transaction blocks", "")
}

func noSetting(name string) fault.Error {
	return fault.New("42704", `unrecognized configuration parameter "`+name+`"`, "")
}

func noFormat(code uint16) fault.Error {
	return fault.Errorf("22023", "", "unsupported format code: %d", code)
}
