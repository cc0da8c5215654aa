package command

import (
	"pgflurry/proxy/internal/wire"
)

// OIDs of the types of values (pg_type.dat). Unknown is the type of a literal before anything determines its type.
const (
	Bool        = 16
	Name        = 19
	Int8        = wire.OIDInt8
	Int2        = wire.OIDInt2
	Int4        = wire.OIDInt4
	Text        = wire.OIDText
	Unknown     = 705
	Varchar     = wire.OIDVarchar
	Timestamptz = 1184
	Void        = 2278
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
	case Name:
		return typeInfo{"name", 64, kindString}, true
	case Text:
		return typeInfo{"text", -1, kindString}, true
	case Varchar:
		return typeInfo{"character varying", -1, kindString}, true
	case Unknown:
		return typeInfo{"unknown", -2, kindOther}, true
	case Timestamptz:
		return typeInfo{"timestamp with time zone", 8, kindOther}, true
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

// fits reports whether a value of one type can be an argument of the other type without a cast.
func fits(from, to uint32) bool {
	return from == to || from == Unknown || to == Text && kindOf(from) == kindString
}
