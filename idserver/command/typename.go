package command

import "pgflurry/proxy/statement"

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
