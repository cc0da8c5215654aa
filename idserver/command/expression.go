package command

import (
	"strconv"

	"pgflurry/fault"
	"pgflurry/idserver/command/tokens"
	"pgflurry/proxy/statement"
)

const (
	// maxDepth is how deep brackets, casts and calls may be nested.
	maxDepth = 16
	// maxArguments is PostgreSQL's limit for a function. Here it also holds for PREPARE and EXECUTE.
	maxArguments = 100
	// maxParameter is the highest parameter of a SELECT.
	maxParameter = 1000
)

// expression is an expression that was read, with the label that it gives to a column.
type expression struct {
	node  node
	label string
	weak  bool // a cast may name the column instead
}

// anonymous is the label if nothing else names the column.
const anonymous = "?column?"

// readExpression reads a constant, a parameter, a call, or one of them with casts or in brackets.
func readExpression(r *tokens.Reader, depth int) (expression, error) {
	if depth > maxDepth {
		return expression{}, r.Refuse()
	}
	negative := r.Kind() == '-'
	e, err := readPrimary(r, depth)
	for casts := 0; err == nil && r.Kind() == statement.KindCast; casts++ {
		if negative || casts == maxDepth { // -1::text is -(1::text)
			return e, r.Refuse()
		}
		r.Next()
		var to uint32
		var label string
		if to, label, err = readTypeName(r); err == nil {
			e, err = e.cast(to, label)
		}
	}
	return e, err
}

// cast converts the expression to another type. It converts a constant at once, as PostgreSQL does.
func (e expression) cast(to uint32, label string) (expression, error) {
	if e.weak {
		e.label = label
	}
	if value, constant := e.node.(Value); constant {
		converted, err := value.to(to)
		e.node = converted
		return e, err
	}
	e.node = cast{e.node, to}
	return e, nil
}

func constant(v Value) expression { return expression{v, anonymous, true} }

func readPrimary(r *tokens.Reader, depth int) (expression, error) {
	switch r.Kind() {
	case statement.KindNumber:
		return readInteger(r, "")
	case '-':
		r.Next()
		return readInteger(r, "-")
	case statement.KindString:
		v := Value{oid: Unknown, text: r.Text()}
		r.Next()
		return constant(v), nil
	case statement.KindParam:
		n, err := strconv.Atoi(r.Text())
		if err != nil || n > maxParameter {
			return expression{}, r.Refuse()
		}
		if n == 0 {
			return expression{}, fault.Errorf(codeNoParameter, "", "there is no parameter $0")
		}
		r.Next()
		return expression{parameter(n), anonymous, true}, nil
	case '(':
		r.Next()
		e, err := readExpression(r, depth+1)
		if err == nil && !r.Mark(')') {
			err = r.Refuse()
		}
		return e, err
	case statement.KindWord, statement.KindQuoted:
		return readNamed(r, depth)
	}
	return expression{}, r.Refuse()
}

// readInteger reads a number: an integer if it fits, else a bigint.
func readInteger(r *tokens.Reader, sign string) (expression, error) {
	n, err := strconv.ParseInt(sign+r.Text(), 10, 64)
	if r.Kind() != statement.KindNumber || err != nil {
		return expression{}, r.Refuse()
	}
	r.Next()
	v := Value{oid: Int8, number: n}
	if n == int64(int32(n)) {
		v.oid = Int4
	}
	return constant(v), nil
}

// readNamed reads NULL, TRUE, FALSE, CAST(… AS …), a word that stands for a value, or a call.
func readNamed(r *tokens.Reader, depth int) (expression, error) {
	switch r.Keyword("null", "true", "false", "cast") {
	case "null":
		return constant(Null(Unknown)), nil
	case "true":
		return constant(boolValue(true)), nil
	case "false":
		return constant(boolValue(false)), nil
	case "cast":
		return readCastCall(r, depth)
	}
	qualified := r.Kind() == statement.KindQuoted
	name := r.Text()
	r.Next()
	if name == "pg_catalog" && r.Mark('.') {
		qualified = true
		name = r.Text()
		if !r.IsWord() {
			return expression{}, r.Refuse()
		}
		r.Next()
	}
	switch {
	case r.Kind() == '(' && isCall(name) && functions(name) != nil:
		r.Next()
		return readCallOf(r, name, depth)
	case r.Kind() != '(' && isWord(name) && !qualified:
		return expression{call{name, nil}, name, false}, nil
	}
	return expression{}, r.Refuse()
}

// readCastCall reads what follows CAST.
func readCastCall(r *tokens.Reader, depth int) (expression, error) {
	if !r.Mark('(') {
		return expression{}, r.Refuse()
	}
	e, err := readExpression(r, depth+1)
	if err != nil {
		return e, err
	}
	if r.Keyword("as") == "" {
		return e, r.Refuse()
	}
	to, label, err := readTypeName(r)
	if err != nil {
		return e, err
	}
	if !r.Mark(')') {
		return e, r.Refuse()
	}
	return e.cast(to, label)
}

// readCallOf reads the arguments of a call, after the opening bracket.
func readCallOf(r *tokens.Reader, name string, depth int) (expression, error) {
	c := call{name: name}
	for !r.Mark(')') {
		if len(c.arguments) > 0 && !r.Mark(',') {
			return expression{}, r.Refuse()
		}
		e, err := readExpression(r, depth+1)
		if err != nil {
			return e, err
		}
		if len(c.arguments) == maxArguments {
			return e, fault.Errorf(codeTooManyArguments, "", "cannot pass more than %d arguments to a function",
				maxArguments)
		}
		c.arguments = append(c.arguments, e.node)
	}
	return expression{c, name, false}, nil
}
