package command

import (
	"strconv"

	"pgflurry/internal/fault"

	"pgflurry/proxy/statement"
)

// readDeclare reads what follows DECLARE.
func readDeclare(r *tokens) (Command, error) {
	name, err := r.Name()
	if err != nil {
		return nil, err
	}
	command := Declare{Name: name}
	for r.Kind() == statement.KindWord && !r.At("cursor") {
		switch r.Keyword("asensitive", "insensitive", "no") {
		case "no":
			if err := r.Keywords("scroll"); err != nil {
				return nil, err
			}
		case "":
			return nil, r.Refuse()
		}
	}
	if err := r.Keywords("cursor"); err != nil {
		return nil, err
	}
	if hold := r.Keyword("with", "without"); hold != "" {
		command.Hold = hold == "with"
		if err := r.Keywords("hold"); err != nil {
			return nil, err
		}
	}
	if err := r.Keywords("for"); err != nil {
		return nil, err
	}
	command.Query, err = readQuery(r)
	return command, err
}

// readFetch reads what follows FETCH. Cursors only go forward: fetched rows are gone.
func readFetch(r *tokens) (Command, error) {
	command := Fetch{Count: 1}
	// A cursor may have the name of a direction. The word is a direction if something follows that cannot follow a
	// name.
	word := r.Keyword("next", "forward", "all", "prior", "backward", "first", "last", "absolute", "relative")
	var err error
	switch {
	case word != "" && r.Ended() && word != "all":
		command.Cursor = word
		return command, nil
	case word == "all":
		command.Count = AllRows
	case word == "forward" && (r.Kind() == statement.KindNumber || r.Kind() == '-' || r.Kind() == '+' || r.At("all")),
		word == "" && (r.Kind() == statement.KindNumber || r.Kind() == '-' || r.Kind() == '+'):
		command.Count, err = readCount(r)
	case word != "" && word != "next" && word != "forward":
		err = fault.New(codePrerequisite, "cursor can only scan forward", "Use NEXT, FORWARD, ALL or a number of rows.")
	}
	if err != nil {
		return nil, err
	}
	r.Keyword("from", "in")
	command.Cursor, err = r.Name()
	return command, err
}

// readCount reads the number of rows to fetch.
func readCount(r *tokens) (int64, error) {
	if r.Keyword("all") != "" {
		return AllRows, nil
	}
	text, err := r.Signed()
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0, r.Refuse()
	}
	if n < 1 {
		return 0, fault.New(codePrerequisite, "cursor can only scan forward", "Ask for one row or more.")
	}
	return n, nil
}

// readClose reads what follows CLOSE.
func readClose(r *tokens) (Command, error) {
	name, all, err := r.NameOrAll()
	return Close{name, all}, err
}

// readUnlisten reads what follows UNLISTEN.
func readUnlisten(r *tokens) (Command, error) {
	if r.Mark('*') {
		return Unlisten{}, nil
	}
	_, err := r.Name()
	return Unlisten{}, err
}
