package command

// readBegin reads what follows BEGIN.
func readBegin(r *tokens) (Command, error) {
	r.Keyword("work", "transaction")
	modes, err := readModes(r, "transaction_")
	return Begin{Modes: modes}, err
}

// readStart reads what follows START.
func readStart(r *tokens) (Command, error) {
	if err := r.Keywords("transaction"); err != nil {
		return nil, err
	}
	modes, err := readModes(r, "transaction_")
	return Begin{Start: true, Modes: modes}, err
}

// readModes reads the modes of a transaction, if there are any, with or without commas.
func readModes(r *tokens, prefix string) (modes []Setting, err error) {
	for r.At("isolation") || r.At("read") || r.At("not") || r.At("deferrable") {
		mode, err := readMode(r)
		if err != nil {
			return nil, err
		}
		mode.Name = prefix + mode.Name
		modes = append(modes, mode)
		if r.Mark(',') && !r.At("isolation") && !r.At("read") && !r.At("not") && !r.At("deferrable") {
			return nil, r.Syntax()
		}
	}
	return modes, nil
}

func readMode(r *tokens) (Setting, error) {
	switch r.Keyword("isolation", "read", "not", "deferrable") {
	case "isolation":
		if err := r.Keywords("level"); err != nil {
			return Setting{}, err
		}
		level, err := readLevel(r)
		return Setting{"isolation", level}, err
	case "read":
		switch r.Keyword("only", "write") {
		case "only":
			return Setting{"read_only", "on"}, nil
		case "write":
			return Setting{"read_only", "off"}, nil
		}
		return Setting{}, r.Syntax()
	case "not":
		return Setting{"deferrable", "off"}, r.Keywords("deferrable")
	}
	return Setting{"deferrable", "on"}, nil
}

func readLevel(r *tokens) (string, error) {
	switch r.Keyword("read", "repeatable", "serializable") {
	case "serializable":
		return "serializable", nil
	case "repeatable":
		return "repeatable read", r.Keywords("read")
	case "read":
		if second := r.Keyword("committed", "uncommitted"); second != "" {
			return "read " + second, nil
		}
	}
	return "", r.Syntax()
}

// readCommit reads what follows COMMIT or END.
func readCommit(r *tokens) (Command, error) {
	if r.At("prepared") {
		return nil, r.Refuse()
	}
	return Commit{}, readEnding(r)
}

// readRollback reads what follows ROLLBACK.
func readRollback(r *tokens) (Command, error) {
	if r.At("prepared") {
		return nil, r.Refuse()
	}
	if err := readEnding(r); err != nil {
		return nil, err
	}
	if r.Keyword("to") == "" {
		return Rollback{}, nil
	}
	name, err := readSavepointName(r)
	return RollbackTo{name}, err
}

// readAbort reads what follows ABORT.
func readAbort(r *tokens) (Command, error) { return Rollback{}, readEnding(r) }

// readEnding reads what may follow a word that ends a transaction. CHAIN gets no answer.
func readEnding(r *tokens) error {
	r.Keyword("work", "transaction")
	if r.At("and") {
		return r.Refuse()
	}
	return nil
}

func readSavepoint(r *tokens) (Command, error) {
	name, err := r.Name()
	return Savepoint{name}, err
}

// readRelease reads what follows RELEASE.
func readRelease(r *tokens) (Command, error) {
	name, err := readSavepointName(r)
	return Release{name}, err
}

// readSavepointName reads [SAVEPOINT] name. The savepoint itself may be named savepoint.
func readSavepointName(r *tokens) (string, error) {
	if r.Keyword("savepoint") != "" && r.Ended() {
		return "savepoint", nil
	}
	return r.Name()
}
