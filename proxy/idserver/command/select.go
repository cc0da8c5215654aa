package command

import (
	"pgflurry/internal/fault"

	"pgflurry/proxy/statement"
)

const (
	// maxColumns limits what a short text makes a session keep. PostgreSQL's own limit is 1664.
	maxColumns = 128
	// anonymous is the label if nothing else names the column.
	anonymous = "?column?"
)

// Select is a list of constants, parameters and calls of functions, without a table. It gives one row. A lookup in the
// catalogs is a Select, too, and gives none.
type Select struct {
	targets []target
	params  int // the highest
	empty   bool
}

// target is a column: an operand or the result of a function, perhaps cast to a type.
type target struct {
	label    string
	function string    // of functions; empty: it is its operand
	operands []operand // arguments, or the only operand
	cast     uint32    // 0: none
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
func readSelectList(r *tokens) (Query, error) {
	r.Next()
	s := &Select{}
	for {
		t, err := readTarget(r)
		if err != nil {
			return nil, err
		}
		for _, o := range t.operands {
			s.params = max(s.params, o.param)
		}
		if s.targets = append(s.targets, t); len(s.targets) > maxColumns {
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
	return s, nil
}

// readTarget reads a column: a value, perhaps a cast, perhaps a label.
func readTarget(r *tokens) (t target, err error) {
	negative := r.Kind() == '-'
	if t, err = readFunction(r); err == nil && t.function == "" {
		t.label, t.operands = anonymous, make([]operand, 1)
		t.operands[0], err = readOperand(r)
	}
	if err == nil && !negative && r.Mark(statement.KindCast) { // -1::text is -(1::text)
		err = t.readCast(r)
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

// readCast reads the type of a cast. A constant is cast at once, as PostgreSQL does.
func (t *target) readCast(r *tokens) error {
	oid, label, err := readTypeName(r)
	if err != nil {
		return err
	}
	if t.function != "" || t.operands[0].param > 0 {
		t.cast = oid
	} else if t.operands[0].value, err = t.operands[0].value.To(oid); err != nil {
		return err
	}
	if t.function == "" {
		t.label = label
	}
	return nil
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

// Types are the types of the parameters: as declared, else as a cast or a function wants them, else text.
func (s *Select) Types(declared []uint32) ([]uint32, error) {
	types, err := startTypes(declared, s.params)
	if err != nil {
		return nil, err
	}
	var bare []int // parameters without a type so far
	for i := range s.targets {
		oid, err := s.targets[i].infer(types)
		if err != nil {
			return nil, err
		}
		if n := s.targets[i].operands; oid == Unknown && n[0].param > 0 {
			bare = append(bare, n[0].param)
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

// infer returns the type of the column, and gives types to the parameters.
func (t *target) infer(types []uint32) (oid uint32, err error) {
	if t.function == "" {
		oid = t.operands[0].infer(types, t.cast)
	} else {
		f, given := functions[t.function], make([]uint32, len(t.operands))
		oid = f.result
		for i, o := range t.operands {
			given[i] = o.infer(types, f.arguments[i])
		}
		for i := range given {
			if !fits(given[i], f.arguments[i]) {
				return 0, noFunction(t.function, given)
			}
		}
	}
	if t.cast == 0 {
		return oid, nil
	}
	return t.cast, converts(oid, t.cast)
}

// Columns are the labels and types. A column without a type is text.
func (s *Select) Columns(types []uint32) []Column {
	columns := make([]Column, len(s.targets))
	for i := range s.targets {
		oid, err := s.targets[i].infer(types)
		if err != nil || oid == Unknown {
			oid = Text
		}
		columns[i] = column(s.targets[i].label, oid)
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
	values := make([]Value, len(t.operands))
	for i, o := range t.operands {
		if values[i] = o.value; o.param > 0 {
			if o.param > len(params) {
				return v, fault.Errorf(codeNoParameter, "", "there is no parameter $%d", o.param)
			}
			values[i] = params[o.param-1]
		}
	}
	if t.function == "" {
		v = values[0]
	} else {
		f := functions[t.function]
		for i := range values {
			if values[i], err = values[i].To(f.arguments[i]); err != nil {
				return v, err
			}
		}
		if v, err = f.call(env, values); err != nil {
			return v, err
		}
	}
	if t.cast == 0 {
		return v, nil
	}
	return v.To(t.cast)
}
