package command

import (
	"pgflurry/internal/fault"

	"pgflurry/proxy/internal/wire"
	"pgflurry/proxy/statement"
)

// OIDs of the types of values (pg_type.dat). Unknown is the type of a literal before anything determines its type.
const (
	Bool    = 16
	Name    = 19
	Int8    = wire.OIDInt8
	Int2    = wire.OIDInt2
	Int4    = wire.OIDInt4
	Text    = wire.OIDText
	OID     = 26
	Unknown = 705
	Varchar = wire.OIDVarchar
	Void    = 2278
)

// typeInfo has the properties of a type.
type typeInfo struct {
	name  string // in errors
	width int16
	kind  typeKind
}

type typeKind uint8

const (
	kindOther typeKind = iota
	kindInteger
	kindString
)

// typeOf looks up a type; false: this package reads no value of it.
func typeOf(oid uint32) (typeInfo, bool) {
	switch oid {
	case Bool:
		return typeInfo{"boolean", 1, kindOther}, true
	case Int2:
		return typeInfo{"smallint", 2, kindInteger}, true
	case Int4:
		return typeInfo{"integer", 4, kindInteger}, true
	case Int8:
		return typeInfo{"bigint", 8, kindInteger}, true
	case OID:
		return typeInfo{"oid", 4, kindOther}, true
	case Name:
		return typeInfo{"name", 64, kindString}, true
	case Text:
		return typeInfo{"text", -1, kindString}, true
	case Varchar:
		return typeInfo{"character varying", -1, kindString}, true
	case Unknown:
		return typeInfo{"unknown", -2, kindOther}, true
	case Void:
		return typeInfo{"void", 4, kindOther}, true
	}
	return typeInfo{}, false
}

func nameOf(oid uint32) string {
	info, _ := typeOf(oid)
	return info.name
}

func kindOf(oid uint32) typeKind {
	info, _ := typeOf(oid)
	return info.kind
}

// Column describes a column of no table, as in RowDescription.
type Column struct {
	Label string
	Type  uint32 // its OID
	Width int16  // in bytes, -1 if it varies
}

// column describes a column of a known type.
func column(label string, oid uint32) Column {
	info, _ := typeOf(oid)
	return Column{label, oid, info.width}
}

// readTypeName reads the name of a type, and the label that a cast to it gives a column.
func readTypeName(r *tokens) (oid uint32, label string, err error) {
	if r.Kind() != statement.KindWord {
		return 0, "", r.Refuse()
	}
	switch r.Text() {
	case "bool", "boolean":
		oid, label = Bool, "bool"
	case "int2", "smallint":
		oid, label = Int2, "int2"
	case "int4", "int", "integer":
		oid, label = Int4, "int4"
	case "int8", "bigint":
		oid, label = Int8, "int8"
	case "text":
		oid, label = Text, "text"
	case "varchar":
		oid, label = Varchar, "varchar"
	default:
		return 0, "", r.Refuse()
	}
	r.Next()
	if r.Kind() == '(' || r.Kind() == '[' || r.At("array") {
		return 0, "", r.Refuse() // lengths and arrays
	}
	return oid, label, nil
}

// converts refuses a cast for which there is no need here.
func converts(from, to uint32) error {
	a, b := kindOf(from), kindOf(to)
	if from == to || from == Unknown && to != Void || from != Void && (a == kindString || b == kindString) ||
		a == kindInteger && b == kindInteger {
		return nil
	}
	return fault.Errorf(codeNotSupported, "", "this database casts no %s to %s", nameOf(from), nameOf(to))
}

// fits reports whether a value of one type can be an argument of the other type without a cast.
func fits(from, to uint32) bool {
	return from == to || from == Unknown || to == Text && kindOf(from) == kindString
}
