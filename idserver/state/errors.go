package state

import "pgflurry/idserver/problem"

// Errors of statements. If PostgreSQL has the same error, the words are its own. SQLSTATEs:
// https://www.postgresql.org/docs/current/errcodes-appendix.html
var (
	// ErrMessage is for a message whose fields make no sense.
	ErrMessage = problem.New(
		"08P01", "invalid message format", "Check the driver, or what stands between it and the proxy.",
	)
	errSeveral = problem.New("42601", "cannot insert multiple commands into a prepared statement", "")

	errFailedBlock = problem.New(
		"25P02", "current transaction is aborted, commands ignored until end of transaction block", "",
	)
	errChanged = problem.New(
		"0A000", "cached plan must not change result type",
		"The cursor or statement is another one than when this was bound. Bind it again.",
	)
	// for a FETCH from a portal whose statement gives no rows
	errNoRows = problem.New(
		"XX000", "unsupported portal strategy", "FETCH from a cursor, or from a portal of a SELECT.",
	)
	errNoUnnamed   = problem.New("26000", "unnamed prepared statement does not exist", "")
	errNoParameter = problem.New("42P02", "there is no parameter $1", "")
)

func noStatement(name string) problem.Error {
	return problem.New("26000", `prepared statement "`+name+`" does not exist`, "")
}

func noPortal(name string) problem.Error {
	return problem.New("34000", `portal "`+name+`" does not exist`, "")
}

func cannotRun(name string) problem.Error {
	return problem.New("55000", `portal "`+name+`" cannot be run`, "It has run: bind the statement again.")
}

func noCursor(name string) problem.Error {
	return problem.New("34000", `cursor "`+name+`" does not exist`, "")
}

func needsBlock(what string) problem.Error {
	return problem.New("25P01", what+" can only be used in transaction blocks", "")
}

func noSetting(name string) problem.Error {
	return problem.New("42704", `unrecognized configuration parameter "`+name+`"`, "")
}

func noFormat(code uint16) problem.Error {
	return problem.Errorf("22023", "", "unsupported format code: %d", code)
}
