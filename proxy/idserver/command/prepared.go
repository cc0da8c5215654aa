package command

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
