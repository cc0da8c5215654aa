package command

import (
	"strconv"

	"pgflurry/proxy/statement"
)

// declare reads what follows DECLARE.
func (p *parser) declare() (Command, error) {
	name, err := p.name()
	if err != nil {
		return nil, err
	}
	command := Declare{Name: name}
	for p.kind == statement.KindWord && !p.at("cursor") {
		switch p.keyword("binary", "asensitive", "insensitive", "no") {
		case "binary":
			command.Binary = true
		case "no":
			if err := p.keywords("scroll"); err != nil {
				return nil, err
			}
		case "":
			return nil, p.refuse()
		}
	}
	if err := p.keywords("cursor"); err != nil {
		return nil, err
	}
	if hold := p.keyword("with", "without"); hold != "" {
		command.Hold = hold == "with"
		if err := p.keywords("hold"); err != nil {
			return nil, err
		}
	}
	if err := p.keywords("for"); err != nil {
		return nil, err
	}
	command.Query, err = p.query()
	return command, err
}

// fetch reads what follows FETCH or MOVE. Cursors only go forward: fetched rows are gone.
func (p *parser) fetch(move bool) (Command, error) {
	command := Fetch{Count: 1, Move: move}
	// A cursor may have the name of a direction. The word is a direction if something follows that cannot follow a
	// name.
	word := p.keyword("next", "forward", "all", "prior", "backward", "first", "last", "absolute", "relative")
	var err error
	switch {
	case word != "" && p.ended() && word != "all":
		command.Cursor = word
		return command, nil
	case word == "all":
		command.Count = AllRows
	case word == "forward" && (p.kind == statement.KindNumber || p.kind == '-' || p.kind == '+' || p.at("all")),
		word == "" && (p.kind == statement.KindNumber || p.kind == '-' || p.kind == '+'):
		command.Count, err = p.count()
	case word != "" && word != "next" && word != "forward":
		err = failf(codePrerequisite, "Use NEXT, FORWARD, ALL or a number of rows.", "cursor can only scan forward")
	}
	if err != nil {
		return nil, err
	}
	p.keyword("from", "in")
	command.Cursor, err = p.name()
	return command, err
}

// count reads the number of rows to fetch.
func (p *parser) count() (int64, error) {
	if p.keyword("all") != "" {
		return AllRows, nil
	}
	text, err := p.signed()
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0, p.refuse()
	}
	if n < 1 {
		return 0, failf(codePrerequisite, "Ask for one row or more.", "cursor can only scan forward")
	}
	return n, nil
}

// close reads what follows CLOSE.
func (p *parser) close() (Command, error) {
	name, all, err := p.nameOrAll()
	return Close{name, all}, err
}

// unlisten reads what follows UNLISTEN.
func (p *parser) unlisten() (Command, error) {
	if p.mark('*') {
		return Unlisten{}, nil
	}
	_, err := p.name()
	return Unlisten{}, err
}
