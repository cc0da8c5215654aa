package command

import (
	"regexp"
	"strings"

	"pgflurry/proxy/statement"
)

// readSet reads what follows SET.
func readSet(r *tokens) (Command, error) {
	scope := r.Keyword("session", "local")
	if scope == "session" {
		switch r.Keyword("characteristics", "authorization") {
		case "characteristics":
			return readCharacteristics(r)
		case "authorization":
			return readSpecial(r, "session_authorization", r.At("default"))
		}
	}
	s, err := readAssignment(r, scope == "")
	if set, is := s.(Set); is {
		set.Local = scope == "local"
		return set, err
	}
	return s, err
}

// readCharacteristics reads what follows SET SESSION CHARACTERISTICS.
func readCharacteristics(r *tokens) (Command, error) {
	if err := r.Keywords("as", "transaction"); err != nil {
		return nil, err
	}
	modes, err := readModes(r, "default_transaction_")
	if err == nil && len(modes) == 0 {
		err = r.Syntax()
	}
	return SetTransaction{Session: true, Modes: modes}, err
}

// readAssignment reads a name and its value. Some names have a spelling of their own.
func readAssignment(r *tokens, transaction bool) (Command, error) {
	switch word := r.Keyword("transaction", "time", "names", "schema", "role", "constraints", "catalog", "xml"); word {
	case "":
		return readOrdinary(r)
	case "transaction":
		return readTransactionModes(r, transaction)
	case "time":
		if err := r.Keywords("zone"); err != nil {
			return nil, err
		}
		return readZone(r)
	case "names":
		return readSpecial(r, "client_encoding", r.Ended() || r.At("default"))
	case "schema":
		return readSpecial(r, "search_path", false)
	case "role":
		if r.Keyword("to") != "" || r.Mark('=') {
			return readValues(r, "role")
		}
		if r.Keyword("none") != "" {
			return Set{Name: "role", Values: []string{"none"}}, nil
		}
		return readSpecial(r, "role", false)
	}
	return nil, r.Refuse()
}

// readTransactionModes reads what follows SET TRANSACTION.
func readTransactionModes(r *tokens, allowed bool) (Command, error) {
	if !allowed || r.At("snapshot") {
		return nil, r.Refuse()
	}
	modes, err := readModes(r, "transaction_")
	if err == nil && len(modes) == 0 {
		err = r.Syntax()
	}
	return SetTransaction{Modes: modes}, err
}

// readSpecial reads the value of a name with a spelling of its own. A role may be a word; all others are strings.
func readSpecial(r *tokens, name string, byDefault bool) (Command, error) {
	if byDefault {
		r.Keyword("default")
		return Set{Name: name, Default: true}, nil
	}
	role := name == "role" || name == "session_authorization"
	if r.Kind() != statement.KindString && !(role && r.IsName()) {
		return nil, r.Syntax()
	}
	value := r.Text()
	r.Next()
	return Set{Name: name, Values: []string{value}}, nil
}

// readZone reads what follows SET TIME ZONE. The only bare words are UTC and GMT, because only PostgreSQL knows which
// other words are keywords.
func readZone(r *tokens) (Command, error) {
	set := Set{Name: "timezone"}
	switch {
	case r.Keyword("default", "local") != "":
		set.Default = true
		return set, nil
	case r.At("utc"), r.At("gmt"), r.Kind() == statement.KindString, r.Kind() == statement.KindQuoted:
		set.Values = []string{r.Text()}
		r.Next()
		return set, nil
	case r.Keyword("interval") != "": // Sequelize writes it so
		return readInterval(r)
	case r.Kind() == statement.KindWord:
		return nil, r.Refuse()
	}
	number, err := r.Signed()
	set.Values = []string{number}
	return set, err
}

// offset is an interval that some driver sends.
var offset = regexp.MustCompile(`^([+-])(\d\d):(\d\d)$`)

// readInterval reads 'offset' HOUR TO MINUTE. The value is what PostgreSQL shows: in POSIX the sign is the other one.
func readInterval(r *tokens) (Command, error) {
	parts := offset.FindStringSubmatch(r.Text())
	if r.Kind() != statement.KindString || parts == nil {
		return nil, r.Refuse()
	}
	if r.Next(); !r.At("hour") {
		return nil, r.Refuse()
	}
	time := strings.TrimSuffix(parts[2]+":"+parts[3], ":00")
	value := "<" + parts[1] + time + ">" + map[string]string{"+": "-", "-": "+"}[parts[1]] + time
	return Set{Name: "timezone", Values: []string{value}}, r.Keywords("hour", "to", "minute")
}

// readOrdinary reads name {TO | =} values.
func readOrdinary(r *tokens) (Command, error) {
	name, err := readSettingName(r)
	if err != nil {
		return nil, err
	}
	if r.At("from") {
		return nil, r.Refuse()
	}
	if r.Keyword("to") == "" && !r.Mark('=') {
		return nil, r.Syntax()
	}
	return readValues(r, name)
}

// readValues reads the values for a name.
func readValues(r *tokens, name string) (Command, error) {
	if r.Keyword("default") != "" {
		return Set{Name: name, Default: true}, nil
	}
	var values []string
	for {
		value, err := readValue(r)
		if err != nil {
			return nil, err
		}
		values = append(values, value)
		if !r.Mark(',') {
			return Set{Name: name, Values: values}, nil
		}
	}
}

// maxSettingParts is how many parts, with dots in between, the name of a setting may have.
const maxSettingParts = 8

// readSettingName reads a name with dots.
func readSettingName(r *tokens) (string, error) {
	name, err := r.Name()
	for parts := 1; err == nil && r.Mark('.'); parts++ {
		if parts == maxSettingParts {
			return "", r.Refuse()
		}
		var part string
		part, err = r.Name()
		name += "." + part
	}
	return name, err
}

// readValue reads one value: a string, a word, a number.
func readValue(r *tokens) (string, error) {
	if r.Kind() != statement.KindString && !isValueWord(r) {
		return r.Signed()
	}
	value := r.Text()
	r.Next()
	return value, nil
}

// isValueWord says that the token is a name, or one of the few reserved words that may be a value.
func isValueWord(r *tokens) bool {
	return r.IsName() || r.At("true") || r.At("false") || r.At("on")
}

// readReset reads what follows RESET.
func readReset(r *tokens) (Command, error) {
	name, all, err := readSettingNamed(r)
	return Reset{name, all}, err
}

// readShow reads what follows SHOW.
func readShow(r *tokens) (Command, error) {
	name, all, err := readSettingNamed(r)
	return Show{name, all}, err
}

// readSettingNamed reads the name of a setting, or ALL, in the spellings of RESET and SHOW.
func readSettingNamed(r *tokens) (name string, all bool, err error) {
	if r.Keyword("all") != "" {
		return "", true, nil
	}
	word := r.Keyword("time", "transaction", "session")
	switch {
	case word == "" || r.Kind() == '.':
	case word == "time":
		return "timezone", false, r.Keywords("zone")
	case word == "transaction":
		return "transaction_isolation", false, r.Keywords("isolation", "level")
	default:
		return "session_authorization", false, r.Keywords("authorization")
	}
	if word != "" {
		return "", false, r.Syntax()
	}
	name, err = readSettingName(r)
	return name, false, err
}
