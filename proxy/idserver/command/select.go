package command

import (
	"strconv"

	"pgflurry/internal/fault"

	"pgflurry/proxy/statement"
)

const (
	// maxColumns limits what a short text makes a session keep. PostgreSQL's own limit is 1664.
	maxColumns = 128
	// anonymous is the label if nothing else names the column.
	anonymous = "?column?"
)

// Select is a list of constants and calls of functions, without a table: SELECT, or VALUES. It gives one row.
type Select struct {
	targets []target
	params  int // the highest
}

// target is a column: a constant, or the result of a function.
type target struct {
	label    string
	function string    // of functions; empty: the only operand, a constant
	operands []operand // arguments
}

// Tag is the tag of CommandComplete, without the number of rows.
func (*Select) Tag() string { return "SELECT" }

// add adds a column.
func (s *Select) add(t target) error {
	for _, o := range t.operands {
		s.params = max(s.params, o.param)
	}
	if s.targets = append(s.targets, t); len(s.targets) > maxColumns {
		return errTooMany
	}
	return nil
}

var errTooMany = fault.Errorf(codeTooManyColumns, "", "target lists can have at most %d entries here", maxColumns)

// readSelectList reads from SELECT on: columns, or * FROM function().
func readSelectList(r *tokens) (Query, error) {
	if r.Keyword("select") == "" {
		return nil, r.Refuse()
	}
	s, star := &Select{}, r.Mark('*')
	if star && r.Keyword("from") == "" {
		return nil, r.Refuse()
	}
	for {
		t, err := readTarget(r, star)
		if err == nil {
			err = s.add(t)
		}
		if err != nil {
			return nil, err
		}
		if star || !r.Mark(',') {
			break
		}
	}
	if !r.Ended() {
		return nil, r.Refuse()
	}
	return s, nil
}

// readValuesRow reads what follows VALUES: one row of constants.
func readValuesRow(r *tokens) (Command, error) {
	s := &Select{}
	if !r.Mark('(') {
		return nil, r.Syntax()
	}
	for {
		value, err := readConstant(r)
		if err == nil {
			label := "column" + strconv.Itoa(len(s.targets)+1)
			err = s.add(target{label: label, operands: []operand{{value: value}}})
		}
		switch {
		case err != nil:
			return nil, err
		case r.Mark(')'):
			return s, nil
		case !r.Mark(','):
			return nil, r.Refuse()
		}
	}
}

// readTarget reads a column: a call or a constant, perhaps a label. relation says that it stands after FROM.
func readTarget(r *tokens, relation bool) (t target, err error) {
	if t, err = readFunction(r); err != nil || relation {
		if err == nil && t.function == "" {
			err = r.Refuse()
		}
		return t, err
	}
	if t.function == "" {
		t.label, t.operands = anonymous, make([]operand, 1)
		t.operands[0].value, err = readSum(r)
	}
	if err == nil {
		err = t.readLabel(r)
	}
	return t, err
}

// readFunction reads a call or a keyword that stands for a value. The target has no function if something else is next.
func readFunction(r *tokens) (t target, err error) {
	if !r.IsWord() || r.At("null") || r.At("true") || r.At("false") {
		return t, nil
	}
	qualified := r.Kind() == statement.KindQuoted
	name := r.Text()
	r.Next()
	if name == "pg_catalog" && r.Mark('.') {
		qualified, name = true, r.Text()
		if !r.IsWord() {
			return t, r.Refuse()
		}
		r.Next()
	}
	f, known := functions[name]
	called := r.Mark('(')
	if !known || called && f.keyword && name != "current_schema" || !called && (!f.keyword || qualified) {
		return t, r.Refuse()
	}
	t = target{label: name, function: name}
	for called && !r.Mark(')') {
		if len(t.operands) == len(f.arguments) || len(t.operands) > 0 && !r.Mark(',') {
			return t, r.Refuse()
		}
		o, err := readOperand(r)
		if err != nil {
			return t, err
		}
		t.operands = append(t.operands, o)
	}
	if len(t.operands) < f.least {
		err = r.Refuse()
	}
	return t, err
}

// readLabel reads the label of a column if there is one.
func (t *target) readLabel(r *tokens) (err error) {
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
	t.label, err = r.Identifier()
	return err
}

// Types are the types of the parameters: as declared, else as a function wants them.
func (s *Select) Types(declared []uint32) ([]uint32, error) {
	types, err := startTypes(declared, s.params)
	if err != nil {
		return nil, err
	}
	for _, t := range s.targets {
		if t.function == "" {
			continue
		}
		given, all := make([]uint32, len(t.operands)), true
		for i, wanted := range functions[t.function].arguments[:len(given)] {
			given[i] = t.operands[i].infer(types, wanted)
			all = all && fits(given[i], wanted)
		}
		if !all {
			return nil, noFunction(t.function, given)
		}
	}
	return types, Determined(types)
}

// Columns are the labels and types. A column without a type is text.
func (s *Select) Columns([]uint32) []Column {
	columns := make([]Column, len(s.targets))
	for i, t := range s.targets {
		oid := functions[t.function].result
		if t.function == "" {
			oid = t.operands[0].value.oid
		}
		if oid == Unknown {
			oid = Text
		}
		columns[i] = column(t.label, oid)
	}
	return columns
}

// Row is the one row. params are the values of the parameters, of the types that Types returned.
func (s *Select) Row(env Environment, params []Value) ([]Value, error) {
	row := make([]Value, len(s.targets))
	for i := range s.targets {
		v, err := s.targets[i].evaluate(env, params)
		if err == nil && v.oid == Unknown {
			v, err = v.To(Text)
		}
		if err != nil {
			return nil, err
		}
		row[i] = v
	}
	return row, nil
}

func (t *target) evaluate(env Environment, params []Value) (v Value, err error) {
	if t.function == "" {
		return t.operands[0].value, nil
	}
	f, values := functions[t.function], make([]Value, len(t.operands))
	for i, o := range t.operands {
		if values[i] = o.value; o.param > 0 {
			if o.param > len(params) {
				return v, fault.Errorf(codeNoParameter, "", "there is no parameter $%d", o.param)
			}
			values[i] = params[o.param-1]
		}
		if values[i], err = values[i].To(f.arguments[i]); err != nil {
			return v, err
		}
	}
	return f.call(env, values)
}
