package command

import (
	"pgflurry/proxy/statement"
)

// readQuery reads from SELECT to the end of the statement.
func readQuery(r *tokens) (Query, error) {
	if !r.At("select") && !r.At("with") {
		return nil, r.Refuse()
	}
	if form, ok := statement.Match(r.Rest()); ok {
		r.Skip()
		return Draw{form}, nil
	}
	text := r.Rest()
	query, err := readSelectList(r)
	if err == nil {
		return query, nil
	}
	if found := readCatalog(text); found != nil {
		r.Skip()
		return found, nil
	}
	return nil, err
}
