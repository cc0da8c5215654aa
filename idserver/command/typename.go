package command

import (
	"pgflurry/idserver/command/tokens"
	"pgflurry/proxy/statement"
)

// readTypeName reads the name of a type, and the label that a cast to it gives a column.
func readTypeName(r *tokens.Reader) (oid uint32, label string, err error) {
	qualified := false
	if r.At("pg_catalog") {
		r.Next()
		if !r.Mark('.') {
			return 0, "", r.Refuse()
		}
		qualified = true
	}
	if !r.IsWord() {
		return 0, "", r.Refuse()
	}
	label = r.Text()
	if !qualified && r.Kind() == statement.KindWord {
		label = canonical(label)
	}
	r.Next()
	if label == "character" && r.Keyword("varying") != "" {
		label = "varchar"
	}
	if r.Kind() == '(' || r.Kind() == '[' || r.At("array") {
		return 0, "", r.Refuse() // lengths and arrays
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
	return 0, "", r.Refuse()
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
