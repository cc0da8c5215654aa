package command

import (
	"strconv"

	"pgflurry/internal/fault"

	"pgflurry/proxy/statement"
)

// maxParameter is the highest parameter of a SELECT.
const maxParameter = 1000

// operand is a constant or a parameter.
type operand struct {
	value Value
	param int // 1 is $1; 0: it is a constant
}

func readOperand(r *tokens) (o operand, err error) {
	if r.Kind() != statement.KindParam {
		o.value, err = readConstant(r)
		return o, err
	}
	n, err := strconv.Atoi(r.Text())
	if err != nil || n > maxParameter {
		return o, r.Refuse()
	}
	if n == 0 {
		return o, fault.Errorf(codeNoParameter, "", "there is no parameter $0")
	}
	r.Next()
	return operand{param: n}, nil
}

// readConstant reads a number, a string, NULL, TRUE or FALSE. A number is an integer if it fits, else a bigint.
func readConstant(r *tokens) (v Value, err error) {
	switch r.Keyword("null", "true", "false") {
	case "null":
		return Null(Unknown), nil
	case "true":
		return boolValue(true), nil
	case "false":
		return boolValue(false), nil
	}
	if r.Kind() == statement.KindString {
		v = Value{oid: Unknown, text: r.Text()}
		r.Next()
		return v, nil
	}
	sign := ""
	if r.Mark('-') {
		sign = "-"
	}
	n, err := strconv.ParseInt(sign+r.Text(), 10, 64)
	if r.Kind() != statement.KindNumber || err != nil {
		return v, r.Refuse()
	}
	r.Next()
	v = Value{oid: Int8, number: n}
	if n == int64(int32(n)) {
		v.oid = Int4
	}
	return v, nil
}

// readSum reads a constant, or a sum of numbers such as 1+1.
func readSum(r *tokens) (Value, error) {
	sum, err := readConstant(r)
	for err == nil && r.Mark('+') {
		var v Value
		if v, err = readConstant(r); err != nil {
			break
		}
		total, short := sum.number+v.number, sum.oid == Int4 && v.oid == Int4
		if kindOf(sum.oid) != kindInteger || kindOf(v.oid) != kindInteger ||
			(total < sum.number) != (v.number < 0) || short && total != int64(int32(total)) {
			return Value{}, r.Refuse()
		}
		if v.oid == Int8 {
			sum.oid = Int8
		}
		sum.number = total
	}
	return sum, err
}

// infer returns the type. A parameter without one gets the type that its function wants.
func (o operand) infer(types []uint32, wanted uint32) uint32 {
	if o.param == 0 {
		return o.value.oid
	}
	if types[o.param-1] == 0 {
		types[o.param-1] = wanted
	}
	return types[o.param-1]
}
