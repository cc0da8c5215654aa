package command

import (
	"math"
	"strconv"
	"unicode/utf8"

	"pgflurry/fault"
	"pgflurry/proxy/statement"
)

// converts reports whether PostgreSQL has an explicit cast (pg_cast.dat, and through text for strings).
func converts(from, to uint32) bool {
	fromKind, toKind := kindOf(from), kindOf(to)
	switch {
	case from == to, from == Unknown:
		return to != Void
	case from == Void, to == Void, to == Unknown:
		return false
	case fromKind == kindString, toKind == kindString, fromKind == kindInteger && toKind == kindInteger:
		return true
	case to == OID:
		return fromKind == kindInteger
	case from == OID:
		return to == Int4 || to == Int8
	}
	return from == Bool && to == Int4 || from == Int4 && to == Bool
}

// fits reports whether a value of one type can be an argument of the other type without a cast.
func fits(from, to uint32) bool {
	switch from {
	case to, Unknown:
		return true
	case Name, Varchar:
		return to == Text
	case Int2:
		return to == Int4 || to == Int8
	case Int4:
		return to == Int8
	}
	return false
}

// assigns reports the same, and also allows the casts that PostgreSQL makes when it stores a value.
func assigns(from, to uint32) bool {
	return fits(from, to) || kindOf(to) == kindString && from != Void ||
		converts(from, to) && kindOf(from) != kindString && from != Bool && to != Bool
}

// Assign converts an argument of EXECUTE to the parameter's type.
func (v Value) Assign(oid uint32) (Value, error) {
	if !assigns(v.oid, oid) {
		return Value{}, fault.Errorf("42804", "", "parameter of type %s cannot be coerced to the expected type %s",
			nameOf(v.oid), nameOf(oid))
	}
	return v.to(oid)
}

// to converts the value to another type.
func (v Value) to(oid uint32) (Value, error) {
	switch {
	case v.oid == oid:
		return v, nil
	case !converts(v.oid, oid):
		return Value{}, fault.Errorf(codeCannotCoerce, "", "cannot cast type %s to %s", nameOf(v.oid), nameOf(oid))
	case v.null:
		return Null(oid), nil
	case kindOf(oid) == kindString:
		return Value{oid: oid, text: v.asText(oid)}, nil
	case v.oid == Unknown, kindOf(v.oid) == kindString:
		if oid == Bool {
			return parseBool(v.text)
		}
		return parseInteger(v.text, oid)
	case oid == Bool:
		return boolValue(v.number != 0), nil
	}
	return v.resize(oid)
}

// asText is the value's text in a cast to a string type.
func (v Value) asText(oid uint32) string {
	switch {
	case v.oid == Bool && oid != Name: // there is no direct cast from boolean to name
		return strconv.FormatBool(v.number != 0)
	case v.oid == Bool, v.oid == OID, kindOf(v.oid) == kindInteger:
		return string(v.appendText(nil))
	case oid == Name:
		return whole(v.text, statement.IdentifierBytes)
	}
	return v.text
}

// resize converts an integer to another integer type. An OID is the four bytes of an integer.
func (v Value) resize(oid uint32) (Value, error) {
	n, least, most := v.number, int64(math.MinInt64), int64(math.MaxInt64)
	switch {
	case oid == OID && v.oid == Int8:
		least, most = 0, math.MaxUint32
	case oid == OID:
		n = int64(uint32(n))
	case oid == Int4 && v.oid == OID:
		n = int64(int32(n))
	case oid == Int4:
		least, most = math.MinInt32, math.MaxInt32
	case oid == Int2:
		least, most = math.MinInt16, math.MaxInt16
	}
	if n < least || n > most {
		name := nameOf(oid)
		if oid == OID {
			name = "OID"
		}
		return Value{}, fault.Errorf(codeNumberRange, "", "%s out of range", name)
	}
	return Value{oid: oid, number: n}, nil
}

// whole truncates a text to at most most bytes, between two characters.
func whole(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}
