package command

// discard reads what follows DISCARD.
func (p *parser) discard() (Command, error) {
	switch p.keyword("all", "plans", "temp", "temporary", "sequences") {
	case "all":
		return Discard{"ALL"}, nil
	case "plans":
		return Discard{"PLANS"}, nil
	case "temp", "temporary":
		return Discard{"TEMP"}, nil
	case "sequences":
		return Discard{"SEQUENCES"}, nil
	}
	return nil, p.syntax()
}

// deallocate reads what follows DEALLOCATE. A statement may have the name prepare.
func (p *parser) deallocate() (Command, error) {
	if p.keyword("prepare") != "" && p.ended() {
		return Deallocate{Name: "prepare"}, nil
	}
	name, all, err := p.nameOrAll()
	return Deallocate{name, all}, err
}

// prepare reads what follows PREPARE.
func (p *parser) prepare() (Command, error) {
	if p.at("transaction") {
		return nil, p.refuse()
	}
	name, err := p.name()
	if err != nil {
		return nil, err
	}
	var types []uint32
	if p.mark('(') {
		if types, err = p.types(); err != nil {
			return nil, err
		}
	}
	if err := p.keywords("as"); err != nil {
		return nil, err
	}
	query, err := p.query()
	return Prepare{name, types, query}, err
}

// types reads the names of types up to the closing bracket.
func (p *parser) types() (types []uint32, err error) {
	for {
		oid := uint32(Unknown)
		if p.keyword("unknown") == "" {
			if oid, _, err = p.typeName(); err != nil {
				return nil, err
			}
		}
		if len(types) == maxArguments {
			return nil, p.refuse()
		}
		types = append(types, oid)
		switch {
		case p.mark(')'):
			return types, nil
		case !p.mark(','):
			return nil, p.refuse()
		}
	}
}

// execute reads what follows EXECUTE.
func (p *parser) execute() (Command, error) {
	name, err := p.name()
	if err != nil {
		return nil, err
	}
	command := Execute{Name: name}
	if !p.mark('(') {
		return command, nil
	}
	for {
		e, err := p.expression(0)
		if err != nil {
			return nil, err
		}
		value, constant := e.node.(Value)
		if !constant {
			return nil, p.refuse()
		}
		if len(command.Arguments) == maxArguments {
			return nil, p.refuse()
		}
		command.Arguments = append(command.Arguments, value)
		switch {
		case p.mark(')'):
			return command, nil
		case !p.mark(','):
			return nil, p.refuse()
		}
	}
}
