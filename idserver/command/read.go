package command

import (
	"pgflurry/idserver/problem"
	"pgflurry/proxy/statement"
)

// Read reads a text of SQL: its statements in their order, none if it is empty. An error is a problem.Error. It may be
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

// cut returns the next statement without surrounding space. It is empty if nothing comes before the semicolon or the
// end.
func cut(scan *statement.Scanner, sql []byte) (text []byte, end bool, err error) {
	start, stop := -1, 0
	for {
		switch kind := scan.Next(); kind {
		case statement.KindBad:
			return nil, false, badToken(scan)
		case ';', statement.KindEnd:
			return sql[max(start, 0):stop], kind == statement.KindEnd, nil
		}
		if start < 0 {
			start = scan.Start
		}
		stop = scan.Stop
	}
}

func badToken(scan *statement.Scanner) problem.Error {
	return failf(codeSyntax, "", `%s at or near "%s"`, scan.Problem(), quote(scan.Source()))
}

// readOne reads one statement. The text has at least one token, and no semicolon at its end.
func readOne(text []byte) (Command, error) {
	p := &parser{scan: statement.Scan(text), text: text}
	p.next()
	command, err := p.command()
	if err != nil {
		return nil, err
	}
	if p.kind != statement.KindEnd {
		if _, query := command.(Query); query {
			return nil, notAnswered(text)
		}
		return nil, p.syntax()
	}
	return command, nil
}

// command reads a statement from its first word on.
func (p *parser) command() (Command, error) {
	if p.kind == '(' {
		return nil, p.refuse()
	}
	if p.kind != statement.KindWord {
		return nil, p.syntax()
	}
	word := p.scan.Text()
	if word == "select" {
		return p.query()
	}
	read := p.commandOf(word)
	if read == nil {
		if isCommand(word) {
			return nil, p.refuse()
		}
		return nil, p.syntax()
	}
	p.next()
	return read()
}

// commandOf returns the function that reads a command after its first word; nil if there is no such command here.
func (p *parser) commandOf(word string) func() (Command, error) {
	switch word {
	case "begin":
		return p.begin
	case "start":
		return p.start
	case "commit", "end":
		return p.commit
	case "rollback":
		return p.rollback
	case "abort":
		return p.abort
	case "savepoint":
		return p.savepoint
	case "release":
		return p.release
	case "set":
		return p.set
	case "reset":
		return p.reset
	case "show":
		return p.show
	case "discard":
		return p.discard
	case "deallocate":
		return p.deallocate
	case "prepare":
		return p.prepare
	case "execute":
		return p.execute
	case "declare":
		return p.declare
	case "fetch", "move":
		return func() (Command, error) { return p.fetch(word == "move") }
	case "close":
		return p.close
	case "unlisten":
		return p.unlisten
	}
	return nil
}

// isCommand says whether the word begins a statement of PostgreSQL that has no answer here.
func isCommand(word string) bool {
	switch word {
	case "alter", "analyse", "analyze", "call", "checkpoint", "cluster", "comment", "copy", "create", "delete", "do",
		"drop", "explain", "grant", "import", "insert", "listen", "load", "lock", "merge", "notify", "reassign",
		"refresh", "reindex", "revoke", "security", "table", "truncate", "update", "vacuum", "values", "with":
		return true
	}
	return false
}
