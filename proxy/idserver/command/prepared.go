package command

// maxArguments is PostgreSQL's limit for a function. Here it also holds for PREPARE and EXECUTE.
const maxArguments = 100

// readDiscard reads what follows DISCARD.
func readDiscard(r *tokens) (Command, error) {
	switch r.Keyword("all", "plans", "temp", "temporary", "sequences") {
	case "all":
		return Discard{"ALL"}, nil
	case "plans":
		return Discard{"PLANS"}, nil
	case "temp", "temporary":
		return Discard{"TEMP"}, nil
	case "sequences":
		return Discard{"SEQUENCES"}, nil
	}
	return nil, r.Syntax()
}

// readDeallocate reads what follows DEALLOCATE. A statement may have the name prepare.
func readDeallocate(r *tokens) (Command, error) {
	if r.Keyword("prepare") != "" && r.Ended() {
		return Deallocate{Name: "prepare"}, nil
	}
	name, all, err := r.NameOrAll()
	return Deallocate{name, all}, err
}

// readPrepare reads what follows PREPARE.
func readPrepare(r *tokens) (Command, error) {
	if r.At("transaction") {
		return nil, r.Refuse()
	}
	name, err := r.Name()
	if err != nil {
		return nil, err
	}
	var types []uint32
	if r.Mark('(') {
		if types, err = readTypes(r); err != nil {
			return nil, err
		}
	}
	if err := r.Keywords("as"); err != nil {
		return nil, err
	}
	query, err := readQuery(r)
	return Prepare{name, types, query}, err
}

// readTypes reads the names of types up to the closing bracket.
func readTypes(r *tokens) (types []uint32, err error) {
	for {
		oid := uint32(Unknown)
		if r.Keyword("unknown") == "" {
			if oid, _, err = readTypeName(r); err != nil {
				return nil, err
			}
		}
		if len(types) == maxArguments {
			return nil, r.Refuse()
		}
		types = append(types, oid)
		switch {
		case r.Mark(')'):
			return types, nil
		case !r.Mark(','):
			return nil, r.Refuse()
		}
	}
}

// readExecute reads what follows EXECUTE.
func readExecute(r *tokens) (Command, error) {
	name, err := r.Name()
	if err != nil {
		return nil, err
	}
	command := Execute{Name: name}
	if !r.Mark('(') {
		return command, nil
	}
	for {
		value, err := readConstant(r)
		if err != nil {
			return nil, err
		}
		if len(command.Arguments) == maxArguments {
			return nil, r.Refuse()
		}
		command.Arguments = append(command.Arguments, value)
		switch {
		case r.Mark(')'):
			return command, nil
		case !r.Mark(','):
			return nil, r.Refuse()
		}
	}
}
