package command

import (
	"pgflurry/proxy/statement"
)

// Read reads a text of SQL: its statements in their order, none if it is empty. An error is a fault.Error. It may be
// called concurrently, and no result refers to the text.
func Read(sql []byte) ([]Command, error) {
	if form, ok := statement.Match(sql); ok { // nearly all texts
		return []Command{Draw{form}}, nil
	}
	if err := encoded(sql); err != nil {
		return nil, err
	}
	var commands []Command
	scan := statement.Scan(sql)
	for {
		text, end, err := cut(scan, sql)
		if err != nil {
			return nil, err
		}
		if len(text) > 0 {
			command, err := readOne(text)
			if err != nil {
				return nil, err
			}
			commands = append(commands, command)
		}
		if end {
			return commands, nil
		}
	}
}

// readOne reads one statement. The text has at least one token, and no semicolon at its end.
func readOne(text []byte) (Command, error) {
	r := readTokens(text)
	command, err := readCommand(r)
	if err != nil {
		return nil, err
	}
	if !r.Ended() {
		if _, query := command.(Query); query {
			return nil, r.Refuse()
		}
		return nil, r.Syntax()
	}
	return command, nil
}

// readCommand reads a statement from its first word on.
func readCommand(r *tokens) (Command, error) {
	if r.Kind() == '(' {
		return nil, r.Refuse()
	}
	if r.Kind() != statement.KindWord {
		return nil, r.Syntax()
	}
	word := r.Text()
	if word == "select" || word == "with" {
		return readQuery(r)
	}
	if read, known := readers[word]; known {
		r.Next()
		return read(r)
	}
	if isCommand(word) {
		return nil, r.Refuse()
	}
	return nil, r.Syntax()
}

// readers read the commands after their first words. SELECT is not among them: it is read from that word on.
var readers = map[string]func(*tokens) (Command, error){
	"begin":      readBegin,
	"start":      readStart,
	"commit":     readCommit,
	"end":        readCommit,
	"rollback":   readRollback,
	"abort":      readAbort,
	"savepoint":  readSavepoint,
	"release":    readRelease,
	"set":        readSet,
	"reset":      readReset,
	"show":       readShow,
	"discard":    readDiscard,
	"deallocate": readDeallocate,
	"declare":    readDeclare,
	"fetch":      readFetch,
	"close":      readClose,
	"unlisten":   readUnlisten,
	"values":     readValuesRow,
}

// isCommand says whether the word begins a statement of PostgreSQL that has no answer here.
func isCommand(word string) bool {
	switch word {
	case "alter", "analyse", "analyze", "call", "checkpoint", "cluster", "comment", "copy", "create", "delete", "do",
		"drop", "execute", "explain", "grant", "import", "insert", "listen", "load", "lock", "merge", "move", "notify",
		"prepare", "reassign", "refresh", "reindex", "revoke", "security", "table", "truncate", "update",
		"vacuum":
		return true
	}
	return false
}
