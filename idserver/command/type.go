package command

import (
	"pgflurry/proxy/statement"
	"pgflurry/proxy/wire"
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

// column describes a column of a known type.
func column(label string, oid uint32) Column {
	info, _ := typeOf(oid)
	return Column{label, oid, info.width}
}

// typeName reads the name of a type, and the label that a cast to it gives a column.
func (p *parser) typeName() (oid uint32, label string, err error) {
	qualified := false
	if p.at("pg_catalog") {
		p.next()
		if !p.mark('.') {
			return 0, "", p.refuse()
		}
		qualified = true
	}
	if p.kind != statement.KindWord && p.kind != statement.KindQuoted {
		return 0, "", p.refuse()
	}
	label = p.scan.Text()
	if !qualified && p.kind == statement.KindWord {
		label = canonical(label)
	}
	p.next()
	if label == "character" && p.keyword("varying") != "" {
		label = "varchar"
	}
	if p.kind == '(' || p.kind == '[' || p.at("array") {
		return 0, "", p.refuse() // lengths and arrays
	}
	switch label {
	case "bool":
		return Bool, label, nil
	case "int2":
		return Int2, label, nil
	case "int4":
		return Int4, label, nil
	case "int8":
		return Int8, label, nil
	case "oid":
		return OID, label, nil
	case "name":
		return Name, label, nil
	case "text":
		return Text, label, nil
	case "varchar":
		return Varchar, label, nil
	}
	return 0, "", p.refuse()
}

// canonical is the name of a type that has another keyword.
func canonical(word string) string {
	switch word {
	case "boolean":
		return "bool"
	case "smallint":
		return "int2"
	case "int", "integer":
		return "int4"
	case "bigint":
		return "int8"
	}
	return word
}
