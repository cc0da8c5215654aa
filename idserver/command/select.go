package command

import (
	"pgflurry/fault"
	"pgflurry/idserver/command/tokens"
	"pgflurry/proxy/statement"
)

// maxColumns limits what a short text makes a session keep. PostgreSQL's own limit is 1664.
const maxColumns = 128

// Select is a list of constants, parameters and calls of functions, without a table. It gives one row. A lookup in the
// catalogs is a Select, too, and gives none.
type Select struct {
	targets []target
	params  int // the highest
	empty   bool
}

type target struct {
	label string
	node  node
}

// Tag is the tag of CommandComplete, without the number of rows.
func (*Select) Tag() string { return "SELECT" }

// Rows is the number of rows: one, or none.
func (s *Select) Rows() int {
	if s.empty {
		return 0
	}
	return 1
}

// readSelectList reads from SELECT on.
func readSelectList(r *tokens.Reader) (Query, error) {
	r.Next()
	s := &Select{}
	for {
		e, err := readExpression(r, 0)
		if err != nil {
			return nil, err
		}
		if err := readLabel(r, &e); err != nil {
			return nil, err
		}
		if s.targets = append(s.targets, target{e.label, e.node}); len(s.targets) > maxColumns {
			return nil, fault.Errorf(codeTooManyColumns, "", "target lists can have at most %d entries here",
				maxColumns)
		}
		if !r.Mark(',') {
			break
		}
	}
	if !r.Ended() {
		return nil, r.Refuse()
	}
	for _, t := range s.targets {
		s.params = max(s.params, highest(t.node))
	}
	return s, nil
}

// readLabel reads the label of a column if there is one.
func readLabel(r *tokens.Reader, e *expression) (err error) {
	switch {
	case r.Keyword("as") != "": // then any word will do
		if !r.IsWord() {
			return r.Refuse()
		}
	case r.Kind() == statement.KindQuoted:
	case r.Kind() == statement.KindWord && !statement.NeedsAs(r.Text()):
	default:
		return nil
	}
	e.label, err = r.Identifier()
	return err
}

// Types are the types of the parameters: as declared, else as a cast or a function wants them, else text.
func (s *Select) Types(declared []uint32) ([]uint32, error) {
	types, err := startTypes(declared, s.params)
	if err != nil {
		return nil, err
	}
	var bare []parameter // those without a type so far
	for _, t := range s.targets {
		oid, err := t.node.infer(types, 0)
		if err != nil {
			return nil, err
		}
		if n, is := t.node.(parameter); is && oid == Unknown {
			bare = append(bare, n)
		}
	}
	for _, n := range bare {
		if types[n-1] == 0 {
			types[n-1] = Text
		}
		if types[n-1] != Text {
			return nil, fault.Errorf(codeAmbiguous, "", "inconsistent types deduced for parameter $%d", n)
		}
	}
	return types, Determined(types)
}

// Columns are the labels and types. A column without a type is text.
func (s *Select) Columns(types []uint32) []Column {
	columns := make([]Column, len(s.targets))
	for i, t := range s.targets {
		oid, err := t.node.infer(types, 0)
		if err != nil || oid == Unknown {
			oid = Text
		}
		columns[i] = column(t.label, oid)
	}
	return columns
}

// Row is the one row. params are the values of the parameters, of the types that Types returned.
func (s *Select) Row(env Environment, params []Value) ([]Value, error) {
	row := make([]Value, len(s.targets))
	for i, t := range s.targets {
		v, err := t.node.evaluate(env, params)
		if err == nil && v.oid == Unknown {
			v, err = v.to(Text)
		}
		if err != nil {
			return nil, err
		}
		row[i] = v
	}
	return row, nil
}
