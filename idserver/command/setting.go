package command

import (
	"strconv"
	"strings"

	"pgflurry/proxy/statement"
)

// set reads what follows SET.
func (p *parser) set() (Command, error) {
	scope := p.keyword("session", "local")
	if scope == "session" {
		switch p.keyword("characteristics", "authorization") {
		case "characteristics":
			return p.characteristics()
		case "authorization":
			return p.special("session_authorization", p.at("default"))
		}
	}
	s, err := p.assignment(scope == "")
	if set, is := s.(Set); is {
		set.Local = scope == "local"
		return set, err
	}
	return s, err
}

// characteristics reads what follows SET SESSION CHARACTERISTICS.
func (p *parser) characteristics() (Command, error) {
	if err := p.keywords("as", "transaction"); err != nil {
		return nil, err
	}
	modes, err := p.modes("default_transaction_")
	if err == nil && len(modes) == 0 {
		err = p.syntax()
	}
	return SetTransaction{Session: true, Modes: modes}, err
}

// assignment reads a name and its value. Some names have a spelling of their own.
func (p *parser) assignment(transaction bool) (Command, error) {
	switch word := p.keyword("transaction", "time", "names", "schema", "role", "constraints", "catalog", "xml"); word {
	case "":
		return p.ordinary()
	case "transaction":
		return p.transactionModes(transaction)
	case "time":
		if err := p.keywords("zone"); err != nil {
			return nil, err
		}
		return p.zone()
	case "names":
		return p.special("client_encoding", p.ended() || p.at("default"))
	case "schema":
		return p.special("search_path", false)
	case "role":
		if p.keyword("to") != "" || p.mark('=') {
			return p.values("role")
		}
		if p.keyword("none") != "" {
			return Set{Name: "role", Values: []string{"none"}}, nil
		}
		return p.special("role", false)
	}
	return nil, p.refuse()
}

// transactionModes reads what follows SET TRANSACTION.
func (p *parser) transactionModes(allowed bool) (Command, error) {
	if !allowed || p.at("snapshot") {
		return nil, p.refuse()
	}
	modes, err := p.modes("transaction_")
	if err == nil && len(modes) == 0 {
		err = p.syntax()
	}
	return SetTransaction{Modes: modes}, err
}

// special reads the value of a name with a spelling of its own. A role may be a word; all others are strings.
func (p *parser) special(name string, byDefault bool) (Command, error) {
	if byDefault {
		p.keyword("default")
		return Set{Name: name, Default: true}, nil
	}
	role := name == "role" || name == "session_authorization"
	if p.kind != statement.KindString && !(role && p.isName()) {
		return nil, p.syntax()
	}
	value := p.scan.Text()
	p.next()
	return Set{Name: name, Values: []string{value}}, nil
}

// zone reads what follows SET TIME ZONE. The only bare words are UTC and GMT, because only PostgreSQL knows which other
// words are keywords.
func (p *parser) zone() (Command, error) {
	set := Set{Name: "timezone"}
	switch {
	case p.keyword("default", "local") != "":
		set.Default = true
		return set, nil
	case p.at("utc"), p.at("gmt"), p.kind == statement.KindString, p.kind == statement.KindQuoted:
		set.Values = []string{p.scan.Text()}
		p.next()
		return set, nil
	case p.kind == statement.KindWord:
		return nil, p.refuse()
	}
	number, err := p.signed()
	set.Values = []string{number}
	return set, err
}

// ordinary reads name {TO | =} values.
func (p *parser) ordinary() (Command, error) {
	name, err := p.settingName()
	if err != nil {
		return nil, err
	}
	if p.at("from") {
		return nil, p.refuse()
	}
	if p.keyword("to") == "" && !p.mark('=') {
		return nil, p.syntax()
	}
	return p.values(name)
}

// values reads the values for a name.
func (p *parser) values(name string) (Command, error) {
	if p.keyword("default") != "" {
		return Set{Name: name, Default: true}, nil
	}
	var values []string
	for {
		value, err := p.value()
		if err != nil {
			return nil, err
		}
		values = append(values, value)
		if !p.mark(',') {
			return Set{Name: name, Values: values}, nil
		}
	}
}

// maxSettingParts is how many parts, with dots in between, the name of a setting may have.
const maxSettingParts = 8

// settingName reads a name with dots.
func (p *parser) settingName() (string, error) {
	name, err := p.name()
	for parts := 1; err == nil && p.mark('.'); parts++ {
		if parts == maxSettingParts {
			return "", p.refuse()
		}
		var part string
		part, err = p.name()
		name += "." + part
	}
	return name, err
}

// value reads one value: a string, a word, a number.
func (p *parser) value() (string, error) {
	if p.kind != statement.KindString && !p.isValueWord() {
		return p.signed()
	}
	value := p.scan.Text()
	p.next()
	return value, nil
}

// isName says that the token is a word that is not reserved, or a quoted one.
func (p *parser) isName() bool {
	return p.kind == statement.KindQuoted ||
		p.kind == statement.KindWord && !statement.IsReserved(p.scan.Text())
}

// isValueWord says that the token is a name, or one of the few reserved words that may be a value.
func (p *parser) isValueWord() bool { return p.isName() || p.at("true") || p.at("false") || p.at("on") }

// signed reads a number in the form in which SET keeps it.
func (p *parser) signed() (string, error) {
	sign := ""
	if p.kind == '-' || p.kind == '+' {
		sign = strings.TrimPrefix(string(rune(p.kind)), "+")
		p.next()
	}
	if p.kind != statement.KindNumber && p.kind != statement.KindDecimal {
		return "", p.syntax()
	}
	number := p.scan.Text()
	if n, err := strconv.ParseInt(number, 10, 32); err == nil {
		number = strconv.FormatInt(n, 10)
	}
	p.next()
	return sign + number, nil
}

// reset reads what follows RESET.
func (p *parser) reset() (Command, error) {
	name, all, err := p.settingNamed()
	return Reset{name, all}, err
}

// show reads what follows SHOW.
func (p *parser) show() (Command, error) {
	name, all, err := p.settingNamed()
	return Show{name, all}, err
}

// settingNamed reads the name of a setting, or ALL, in the spellings of RESET and SHOW.
func (p *parser) settingNamed() (name string, all bool, err error) {
	if p.keyword("all") != "" {
		return "", true, nil
	}
	word := p.keyword("time", "transaction", "session")
	switch {
	case word == "" || p.kind == '.':
	case word == "time":
		return "timezone", false, p.keywords("zone")
	case word == "transaction":
		return "transaction_isolation", false, p.keywords("isolation", "level")
	default:
		return "session_authorization", false, p.keywords("authorization")
	}
	if word != "" {
		return "", false, p.syntax()
	}
	name, err = p.settingName()
	return name, false, err
}
