package command

// begin reads what follows BEGIN.
func (p *parser) begin() (Command, error) {
	p.keyword("work", "transaction")
	modes, err := p.modes("transaction_")
	return Begin{Modes: modes}, err
}

// start reads what follows START.
func (p *parser) start() (Command, error) {
	if err := p.keywords("transaction"); err != nil {
		return nil, err
	}
	modes, err := p.modes("transaction_")
	return Begin{Start: true, Modes: modes}, err
}

// modes reads the modes of a transaction, if there are any, with or without commas.
func (p *parser) modes(prefix string) (modes []Setting, err error) {
	for p.at("isolation") || p.at("read") || p.at("not") || p.at("deferrable") {
		mode, err := p.mode()
		if err != nil {
			return nil, err
		}
		mode.Name = prefix + mode.Name
		modes = append(modes, mode)
		if p.mark(',') && !p.at("isolation") && !p.at("read") && !p.at("not") && !p.at("deferrable") {
			return nil, p.syntax()
		}
	}
	return modes, nil
}

func (p *parser) mode() (Setting, error) {
	switch p.keyword("isolation", "read", "not", "deferrable") {
	case "isolation":
		if err := p.keywords("level"); err != nil {
			return Setting{}, err
		}
		level, err := p.level()
		return Setting{"isolation", level}, err
	case "read":
		switch p.keyword("only", "write") {
		case "only":
			return Setting{"read_only", "on"}, nil
		case "write":
			return Setting{"read_only", "off"}, nil
		}
		return Setting{}, p.syntax()
	case "not":
		return Setting{"deferrable", "off"}, p.keywords("deferrable")
	}
	return Setting{"deferrable", "on"}, nil
}

func (p *parser) level() (string, error) {
	switch p.keyword("read", "repeatable", "serializable") {
	case "serializable":
		return "serializable", nil
	case "repeatable":
		return "repeatable read", p.keywords("read")
	case "read":
		if second := p.keyword("committed", "uncommitted"); second != "" {
			return "read " + second, nil
		}
	}
	return "", p.syntax()
}

// commit reads what follows COMMIT or END.
func (p *parser) commit() (Command, error) {
	if p.at("prepared") {
		return nil, p.refuse()
	}
	return Commit{}, p.ending()
}

// rollback reads what follows ROLLBACK.
func (p *parser) rollback() (Command, error) {
	if p.at("prepared") {
		return nil, p.refuse()
	}
	if err := p.ending(); err != nil {
		return nil, err
	}
	if p.keyword("to") == "" {
		return Rollback{}, nil
	}
	name, err := p.savepointName()
	return RollbackTo{name}, err
}

// abort reads what follows ABORT.
func (p *parser) abort() (Command, error) { return Rollback{}, p.ending() }

// ending reads what may follow a word that ends a transaction. CHAIN gets no answer.
func (p *parser) ending() error {
	p.keyword("work", "transaction")
	if p.at("and") {
		return p.refuse()
	}
	return nil
}

func (p *parser) savepoint() (Command, error) {
	name, err := p.name()
	return Savepoint{name}, err
}

// release reads what follows RELEASE.
func (p *parser) release() (Command, error) {
	name, err := p.savepointName()
	return Release{name}, err
}

// savepointName reads [SAVEPOINT] name. The savepoint itself may be named savepoint.
func (p *parser) savepointName() (string, error) { return p.nameBehind("savepoint") }

// nameBehind reads an optional word and a name. The word itself may be the name.
func (p *parser) nameBehind(word string) (string, error) {
	if p.keyword(word) != "" && p.ended() {
		return word, nil
	}
	return p.name()
}
