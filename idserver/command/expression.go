package command

import (
	"strconv"

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

// expression reads a constant, a parameter, a call, or one of them with casts or in brackets.
func (p *parser) expression(depth int) (expression, error) {
	if depth > maxDepth {
		return expression{}, p.refuse()
	}
	negative := p.kind == '-'
	e, err := p.primary(depth)
	for casts := 0; err == nil && p.kind == statement.KindCast; casts++ {
		if negative || casts == maxDepth { // -1::text is -(1::text)
			return e, p.refuse()
		}
		p.next()
		var to uint32
		var label string
		if to, label, err = p.typeName(); err == nil {
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

func (p *parser) primary(depth int) (expression, error) {
	switch p.kind {
	case statement.KindNumber:
		return p.integer("")
	case '-':
		p.next()
		return p.integer("-")
	case statement.KindString:
		v := Value{oid: Unknown, text: p.scan.Text()}
		p.next()
		return constant(v), nil
	case statement.KindParam:
		n, err := strconv.Atoi(p.scan.Text())
		if err != nil || n > maxParameter {
			return expression{}, p.refuse()
		}
		if n == 0 {
			return expression{}, failf(codeNoParameter, "", "there is no parameter $0")
		}
		p.next()
		return expression{parameter(n), anonymous, true}, nil
	case '(':
		p.next()
		e, err := p.expression(depth + 1)
		if err == nil && !p.mark(')') {
			err = p.refuse()
		}
		return e, err
	case statement.KindWord, statement.KindQuoted:
		return p.named(depth)
	}
	return expression{}, p.refuse()
}

// integer reads a number: an integer if it fits, else a bigint.
func (p *parser) integer(sign string) (expression, error) {
	n, err := strconv.ParseInt(sign+p.scan.Text(), 10, 64)
	if p.kind != statement.KindNumber || err != nil {
		return expression{}, p.refuse()
	}
	p.next()
	v := Value{oid: Int8, number: n}
	if n == int64(int32(n)) {
		v.oid = Int4
	}
	return constant(v), nil
}

// named reads NULL, TRUE, FALSE, CAST(… AS …), a word that stands for a value, or a call.
func (p *parser) named(depth int) (expression, error) {
	switch p.keyword("null", "true", "false", "cast") {
	case "null":
		return constant(Null(Unknown)), nil
	case "true":
		return constant(boolValue(true)), nil
	case "false":
		return constant(boolValue(false)), nil
	case "cast":
		return p.castCall(depth)
	}
	qualified := p.kind == statement.KindQuoted
	name := p.scan.Text()
	p.next()
	if name == "pg_catalog" && p.mark('.') {
		qualified = true
		name = p.scan.Text()
		if p.kind != statement.KindWord && p.kind != statement.KindQuoted {
			return expression{}, p.refuse()
		}
		p.next()
	}
	switch {
	case p.kind == '(' && isCall(name) && functions(name) != nil:
		p.next()
		return p.callOf(name, depth)
	case p.kind != '(' && isWord(name) && !qualified:
		return expression{call{name, nil}, name, false}, nil
	}
	return expression{}, p.refuse()
}

// castCall reads what follows CAST.
func (p *parser) castCall(depth int) (expression, error) {
	if !p.mark('(') {
		return expression{}, p.refuse()
	}
	e, err := p.expression(depth + 1)
	if err != nil {
		return e, err
	}
	if p.keyword("as") == "" {
		return e, p.refuse()
	}
	to, label, err := p.typeName()
	if err != nil {
		return e, err
	}
	if !p.mark(')') {
		return e, p.refuse()
	}
	return e.cast(to, label)
}

// callOf reads the arguments of a call, after the opening bracket.
func (p *parser) callOf(name string, depth int) (expression, error) {
	c := call{name: name}
	for !p.mark(')') {
		if len(c.arguments) > 0 && !p.mark(',') {
			return expression{}, p.refuse()
		}
		e, err := p.expression(depth + 1)
		if err != nil {
			return e, err
		}
		if len(c.arguments) == maxArguments {
			return e, failf(codeTooManyArguments, "", "cannot pass more than %d arguments to a function", maxArguments)
		}
		c.arguments = append(c.arguments, e.node)
	}
	return expression{c, name, false}, nil
}
