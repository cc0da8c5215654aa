package command

import "pgflurry/fault"

// node is a Value, a parameter, a cast or a call.
type node interface {
	// infer returns its type, and sets the types of its parameters. wanted is the type that the context takes; 0: any.
	infer(types []uint32, wanted uint32) (uint32, error)
	// evaluate returns its value.
	evaluate(env Environment, params []Value) (Value, error)
}

type (
	parameter int // 1 is $1
	cast      struct {
		of node
		to uint32
	}
	call struct {
		name      string // a name of functions
		arguments []node
	}
)

func (v Value) infer([]uint32, uint32) (uint32, error) { return v.oid, nil }

func (v Value) evaluate(Environment, []Value) (Value, error) { return v, nil }

func (n parameter) infer(types []uint32, wanted uint32) (uint32, error) {
	if types[n-1] == 0 && wanted != 0 {
		types[n-1] = wanted
	}
	if types[n-1] == 0 {
		return Unknown, nil
	}
	return types[n-1], nil
}

func (n parameter) evaluate(_ Environment, params []Value) (Value, error) {
	if int(n) > len(params) {
		return Value{}, fault.Errorf(codeNoParameter, "", "there is no parameter $%d", n)
	}
	return params[n-1], nil
}

func (c cast) infer(types []uint32, _ uint32) (uint32, error) {
	from, err := c.of.infer(types, c.to)
	if err == nil && !converts(from, c.to) {
		err = fault.Errorf(codeCannotCoerce, "", "cannot cast type %s to %s", nameOf(from), nameOf(c.to))
	}
	return c.to, err
}

func (c cast) evaluate(env Environment, params []Value) (Value, error) {
	v, err := c.of.evaluate(env, params)
	if err != nil {
		return v, err
	}
	return v.to(c.to)
}

// function finds the function with this number of arguments.
func (c call) function() (function, bool) {
	for _, f := range functions(c.name) {
		if len(f.arguments) == len(c.arguments) {
			return f, true
		}
	}
	return function{}, false
}

func (c call) infer(types []uint32, _ uint32) (uint32, error) {
	f, found := c.function()
	given := make([]uint32, len(c.arguments))
	for i, argument := range c.arguments {
		wanted := uint32(Text)
		if found {
			wanted = f.arguments[i]
		}
		var err error
		if given[i], err = argument.infer(types, wanted); err != nil {
			return 0, err
		}
		found = found && fits(given[i], wanted)
	}
	if !found {
		return 0, noFunction(c.name, given)
	}
	return f.result, nil
}

func (c call) evaluate(env Environment, params []Value) (Value, error) {
	f, _ := c.function() // infer has found it before
	values := make([]Value, len(c.arguments))
	for i, argument := range c.arguments {
		v, err := argument.evaluate(env, params)
		if err != nil {
			return v, err
		}
		if v, err = v.to(f.arguments[i]); err != nil {
			return v, err
		}
		if v.null && f.strict {
			return Null(f.result), nil
		}
		values[i] = v
	}
	return f.call(env, values)
}

// highest is the highest parameter in a node.
func highest(n node) int {
	switch n := n.(type) {
	case parameter:
		return int(n)
	case cast:
		return highest(n.of)
	case call:
		most := 0
		for _, argument := range n.arguments {
			most = max(most, highest(argument))
		}
		return most
	}
	return 0
}
